import CTransferLinux
import Glibc

/// The process limits below which its work can never begin (getrlimit(2), and the limits of containers). They are
/// checked first. Libraries end the process, or wait endlessly, where they get no memory, thread or descriptor.
package struct StartingLimits: Sendable {
    /// The number of threads besides the first one.
    package let threads: Int
    /// The number of descriptors besides those open at the start.
    package let descriptors: Int
    /// The address space in bytes besides that of the program at its start.
    package let addressSpace: Int

    /// The needs of one transfer: its loops, a worker of each pool and the executor's threads. It has about ten threads
    /// where the system permits, with stacks of 8 MiB; the queue, TLS and buffers need further memory. The queue itself
    /// reports a lack of descriptors, since each command needs a different number.
    package static let transfer = StartingLimits(threads: 8, descriptors: 0, addressSpace: 192 << 20)

    /// The needs of a watched folder. Its descriptors are opened before that of the first file, and an unreadable
    /// folder is waited for.
    package static let watch = StartingLimits(threads: 8, descriptors: 24, addressSpace: 192 << 20)

    /// The needs of the service: transfers, the loops of its connections (which end the process without a descriptor),
    /// and some clients.
    package static let service = StartingLimits(threads: 16, descriptors: 40, addressSpace: 288 << 20)

    /// Checks the limits.
    ///
    /// - Returns: The limit that is too low, in words; `nil` where the work can begin.
    package func lack() -> String? {
        if !hasAddressSpace {
            return
                "too little address space: \(addressSpace >> 20) MiB more than the program itself are needed; raise the limit "
                + "with ulimit -v or -d, or LimitAS= or LimitDATA= in a unit"
        }
        let got = threadsToHave(threads)
        if got < threads {
            return
                "too few threads: the system gave \(got) of \(threads) that are needed; raise the limit with ulimit -u, or "
                + "LimitNPROC= or TasksMax= in a unit"
        }
        let opened = descriptorsToHave(descriptors)
        if opened < descriptors {
            return
                "too few file descriptors: the system gave \(opened) of \(descriptors) that are needed; raise the limit with "
                + "ulimit -n, or LimitNOFILE= in a unit"
        }
        return nil
    }

    private var hasAddressSpace: Bool {
        // Writable memory counts for both limits, RLIMIT_AS and RLIMIT_DATA; none of it is used.
        let place = mmap(
            nil, addressSpace, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let place, place != MAP_FAILED else { return false }
        munmap(place, addressSpace)
        return true
    }

    /// Opens a number of descriptors at the same time, and closes them.
    ///
    /// - Returns: The number of descriptors that could be opened.
    private func descriptorsToHave(_ count: Int) -> Int {
        var opened: [Int32] = []
        while opened.count < count {
            let descriptor = transfer_eventfd()
            guard descriptor >= 0 else { break }
            opened.append(descriptor)
        }
        for descriptor in opened { close(descriptor) }
        return opened.count
    }

    /// Starts a number of threads at the same time, and ends them.
    ///
    /// - Returns: The number of threads that could be started.
    private func threadsToHave(_ count: Int) -> Int {
        let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        pthread_mutex_init(gate, nil)
        pthread_mutex_lock(gate)
        var made: [pthread_t] = []
        while made.count < count {
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { gate in
                    // Each thread ends once all of them exist.
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
