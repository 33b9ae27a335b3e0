op = "axpby"
columns = {64, 32, 256}
