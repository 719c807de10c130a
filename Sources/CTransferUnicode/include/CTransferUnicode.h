// An empty package of ICU's data, for the command: see icudata.c. Nothing calls it.
