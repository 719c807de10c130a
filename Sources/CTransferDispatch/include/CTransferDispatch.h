// Nothing to call: `open` stands in for the C library's (open.c).
#pragma once
