# cmake -DINPUT=FILE -DOUTPUT=FILE -P EmbedText.cmake: a text file as a string
# literal of C++.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "R\"attn(${text})attn\"\n")
