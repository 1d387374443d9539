"""Five points in single precision by Devito, which molly can be measured against: `molly-bench --devito PYTHON`.

mpirun -n RANKS PYTHON five.py SIZE STEPS REPEATS prints the median time of a run in seconds. PYTHON has devito and mpi4py.
"""

import statistics
import sys
import time

import numpy
from mpi4py import MPI  # This begins MPI; Devito, if it comes first, keeps it from that.
from devito import Eq, Grid, Operator, TimeFunction, configuration

configuration["log-level"] = "ERROR"
configuration["mpi"] = "full"
size, steps, repeats = map(int, sys.argv[1:])
grid = Grid(shape=(size, size), extent=(size - 1, size - 1), dtype=numpy.float32, topology=(MPI.COMM_WORLD.size, 1))
x, y = grid.dimensions
u = TimeFunction(name="u", grid=grid, space_order=2, time_order=1)
around = [u.subs({at: at + by * at.spacing}) for at in (x, y) for by in (-1, 1)]
operator = Operator([Eq(u.forward, numpy.float32(0.2) * (u + sum(around)), subdomain=grid.interior)])
times = []
for _ in range(repeats + 1):
    u.data[:] = 1.0
    MPI.COMM_WORLD.Barrier()
    begun = time.perf_counter()
    operator.apply(time_m=0, time_M=steps - 1)
    times.append(time.perf_counter() - begun)
if MPI.COMM_WORLD.rank == 0:
    print(f"{statistics.median(times[1:]):.9f}")
