// A test that runs nothing.
