/* Patterns of 2N - 2 of 2N elements, which kernels of 2:4 multiply once their spans of 2N are N - 1 groups of
   four (docs/sparse24.md): as specs, records and mcrun write them, and how long their spans are. */
#ifndef MC_SLIDE24_PARTS_H
#define MC_SLIDE24_PARTS_H

/* X(as it is written, elements of a span) */
#define SLIDE24_PATTERNS(X)                                                                                  \
    X("2:4", 4)                                                                                              \
    X("4:6", 6)                                                                                              \
    X("6:8", 8)                                                                                              \
    X("8:10", 10)                                                                                            \
    X("10:12", 12)                                                                                           \
    X("12:14", 14)                                                                                           \
    X("14:16", 16)                                                                                           \
    X("16:18", 18)                                                                                           \
    X("18:20", 20)                                                                                           \
    X("20:22", 22)                                                                                           \
    X("22:24", 24)                                                                                           \
    X("24:26", 26)                                                                                           \
    X("26:28", 28)                                                                                           \
    X("28:30", 30)                                                                                           \
    X("30:32", 32)                                                                                           \
    X("32:34", 34)                                                                                           \
    X("34:36", 36)                                                                                           \
    X("36:38", 38)                                                                                           \
    X("38:40", 40)                                                                                           \
    X("40:42", 42)                                                                                           \
    X("42:44", 44)                                                                                           \
    X("44:46", 46)                                                                                           \
    X("46:48", 48)                                                                                           \
    X("48:50", 50)                                                                                           \
    X("50:52", 52)                                                                                           \
    X("52:54", 54)                                                                                           \
    X("54:56", 56)                                                                                           \
    X("56:58", 58)                                                                                           \
    X("58:60", 60)                                                                                           \
    X("60:62", 62)                                                                                           \
    X("62:64", 64)

#endif
