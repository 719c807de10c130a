import Glibc

/// Limits of the process under which no transfer can ever begin (getrlimit(2), and those of containers): looked at before
/// anything else is, as libraries end the process, or wait without an end, where they get no memory or no thread.
enum StartingLimits {
    /// Threads that a run of one transfer needs beside the first one: its loops, a worker of each pool, and those of the
    /// executor. It has about ten where the system gives them.
    static let threads = 8
    /// Address space that a run of one transfer takes beside what the program has when it begins, in bytes: stacks of those
    /// threads (8 MiB each by default), and the memory of the queue, TLS and buffers.
    static let addressSpace = 192 << 20

    /// - Returns: The limit that is too low, in words; `nil` where a transfer can begin.
    static func lack() -> String? {
        if !hasAddressSpace {
            return "too little address space: \(addressSpace >> 20) MiB are needed; raise the limit with ulimit -v, or "
                + "LimitAS= in a unit"
        }
        let made = threadsToHave(threads)
        if made < threads {
            return
                "too few threads: the system gave \(made) of \(threads) that are needed; raise the limit with ulimit -u, or "
                + "LimitNPROC= or TasksMax= in a unit"
        }
        return nil
    }

    private static var hasAddressSpace: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
            return true
        }
        let place = mmap(nil, addressSpace, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let place, place != MAP_FAILED else { return false }
        munmap(place, addressSpace)
        return true
    }

    /// Makes threads that exist at the same time, and ends them.
    ///
    /// - Returns: How many there were.
    private static func threadsToHave(_ count: Int) -> Int {
        let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        pthread_mutex_init(gate, nil)
        pthread_mutex_lock(gate)
        var made: [pthread_t] = []
        while made.count < count {
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { gate in
                    // They end when all of them are there.
                    if let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self) {
                        pthread_mutex_lock(gate)
                        pthread_mutex_unlock(gate)
                    }
                    return nil
                }, gate)
            guard code == 0 else { break }
            made.append(thread)
        }
        pthread_mutex_unlock(gate)
        for thread in made { pthread_join(thread, nil) }
        pthread_mutex_destroy(gate)
        gate.deallocate()
        return made.count
    }
}
