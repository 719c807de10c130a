import Glibc
import Synchronization

/// The thread that draws the live screen: about eight times a second while something moves, otherwise once a second for
/// the countdowns.
///
/// The thread is not the queue's, since a terminal may stop taking output (Ctrl-S) for any time.
final class ScreenThread: Sendable {
    private static let interval: Int32 = 125
    private static let idleInterval: Int32 = 1000

    private struct State {
        var thread: pthread_t?
        /// The pipe whose closing ends the thread.
        var stop: Int32 = -1
        /// The pipe that ends with the thread.
        var ended: Int32 = -1
    }

    private final class Work: Sendable {
        let stop: Int32
        let ended: Int32
        let draw: @Sendable () -> Bool

        init(stop: Int32, ended: Int32, draw: @escaping @Sendable () -> Bool) {
            self.stop = stop
            self.ended = ended
            self.draw = draw
        }

        func run() {
            var poller = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
            var interval = ScreenThread.interval
            while poll(&poller, 1, interval) <= 0 {
                interval = draw() ? ScreenThread.interval : ScreenThread.idleInterval
            }
            Glibc.close(stop)
            Glibc.close(ended)
        }
    }

    private let state = Mutex(State())

    /// Starts the thread.
    ///
    /// - Parameter draw: A closure that draws, and returns whether something moves.
    /// - Returns: `false` when the system has no thread or descriptor left, so that there is no screen.
    func start(_ draw: @escaping @Sendable () -> Bool) -> Bool {
        state.withLock { state in
            guard state.thread == nil, let stop = Self.makePipe() else { return false }
            guard let ended = Self.makePipe() else {
                Self.close([stop.read, stop.write])
                return false
            }
            let work = Unmanaged.passRetained(Work(stop: stop.read, ended: ended.write, draw: draw))
            guard let thread = Self.makeThread(work) else {
                work.release()
                Self.close([stop.read, stop.write, ended.read, ended.write])
                return false
            }
            state = State(thread: thread, stop: stop.write, ended: ended.read)
            return true
        }
    }

    /// Ends the thread and waits for its last frame, except on a terminal that takes no output.
    ///
    /// - Returns: `false` when the thread hangs in a write and was abandoned.
    func stop() -> Bool {
        let taken = state.withLock { state in
            defer { state = State() }
            return state
        }
        guard let thread = taken.thread else { return true }
        Glibc.close(taken.stop)
        defer { Glibc.close(taken.ended) }
        var poller = pollfd(fd: taken.ended, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, 1000) > 0 else {
            pthread_detach(thread)
            return false
        }
        pthread_join(thread, nil)
        return true
    }

    private static func makeThread(_ work: Unmanaged<Work>) -> pthread_t? {
        var thread = pthread_t()
        // Signals are for the threads that wait for them.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, work.toOpaque())
        return code == 0 ? thread : nil
    }

    private static func makePipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func close(_ descriptors: [Int32]) { for descriptor in descriptors { Glibc.close(descriptor) } }
}
