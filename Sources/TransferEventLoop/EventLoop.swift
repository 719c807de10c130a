import CTransferLinux
import Synchronization
public import TransferCore

/// A thread with epoll, an eventfd that wakes it and a timerfd for its timers, and also an executor to which actors can
/// be pinned.
///
/// An actor pinned to the loop runs only on its thread. Callbacks of C libraries on that thread enter the actor through
/// ``LoopActor/onLoop(_:)``.
///
/// `@unchecked Sendable`: `inbox` is protected by a lock, and `runner` is constant. Everything else is accessed on the
/// loop's own thread only, as `preconditionOnLoop()` checks.
public final class EventLoop: SerialExecutor, @unchecked Sendable {
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var work: [@Sendable () -> Void] = []
        var isWakeSent = false
        var isStopping = false
        var hasEnded = false
    }

    private let inbox = Mutex(Inbox())
    private let runner: any LoopRunner

    // The following values are accessed on the loop's thread only.
    private var registrations: [Int32: Registration] = [:]
    private var lastRegistration: UInt32 = 0
    private var timers: [LoopTimer] = []
    private var spareJobs: [UnownedJob] = []
    private var spareWork: [@Sendable () -> Void] = []
    private var turnEnds: [() -> Void] = []

    private struct Registration {
        /// The number that distinguishes a new registration from queued events of a closed descriptor with the same
        /// number.
        let serial: UInt32
        let handler: (ReadyEvents) -> Void
    }

    /// Starts the loop's thread.
    ///
    /// - Throws: `TransferError` where the system has no descriptors or threads left.
    public init(name: String) throws {
        runner = try Threads.current.loopRunner()
        try runner.start(self, name: name)
    }

    /// The processor time of the thread in seconds, including the kernel's time on its behalf; 0 where the system does
    /// not report it.
    public var processorTime: Double { runner.processorTime }

    /// Ends the thread once the queued work has run. The loop cannot be used afterwards.
    public func stop() {
        inbox.withLock { $0.isStopping = true }
        runner.wake()
    }

    // MARK: Executor

    /// Runs a job of an actor on the loop's thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isOnLoop = isOnLoop
        let mustWake = inbox.withLock { inbox in
            inbox.jobs.append(job)
            return !isOnLoop && !exchange(&inbox.isWakeSent, with: true)
        }
        if mustWake { runner.wake() }
    }

    /// Runs `work` on the loop's thread soon, in the order of the calls.
    ///
    /// - Returns: `false` where the loop has ended, so that the work will not run.
    @discardableResult
    public func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
        // The loop checks its inbox before it waits.
        let isOnLoop = isOnLoop
        let mustWake = inbox.withLock { inbox -> Bool? in
            guard !inbox.hasEnded else { return nil }
            inbox.work.append(work)
            return !isOnLoop && !exchange(&inbox.isWakeSent, with: true)
        }
        if mustWake == true { runner.wake() }
        return mustWake != nil
    }

    /// Whether the current thread is the loop's.
    public var isOnLoop: Bool {
        guard let thread = LoopThread.current else { return false }
        return thread == ObjectIdentifier(self)
    }

    /// Stops the program unless the current thread is the loop's.
    public func checkIsolated() { preconditionOnLoop() }

    /// Stops the program unless the current thread is the loop's.
    public func preconditionOnLoop() {
        precondition(isOnLoop, "called on another thread than the event loop's")
    }

    // MARK: Descriptors

    /// Calls `handler` on the loop whenever the descriptor is ready (level-triggered). A second call for the same
    /// descriptor changes the events. The function must run on the loop.
    public func register(_ descriptor: Int32, for events: ReadyEvents, handler: @escaping (ReadyEvents) -> Void) {
        preconditionOnLoop()
        let isNew = registrations[descriptor] == nil
        lastRegistration &+= 1
        registrations[descriptor] = Registration(serial: lastRegistration, handler: handler)
        runner.watch(descriptor, for: events, serial: lastRegistration, isNew: isNew)
    }

    /// Removes the registration of a descriptor; one that is not registered is no error. The function must run on the
    /// loop.
    public func unregister(_ descriptor: Int32) {
        preconditionOnLoop()
        guard registrations.removeValue(forKey: descriptor) != nil else { return }
        runner.unwatch(descriptor)
    }

    // MARK: Turns

    /// Calls `work` once, after the handling of all current events and before the loop waits again. It serves work that
    /// several events require, but that is needed only once. The function must run on the loop.
    public func atEndOfTurn(_ work: @escaping () -> Void) {
        preconditionOnLoop()
        turnEnds.append(work)
    }

    private func endTurn() {
        guard !turnEnds.isEmpty else { return }
        // Work that is added meanwhile belongs to the next turn.
        for work in exchange(&turnEnds, with: []) { work() }
    }

    // MARK: Timers

    /// Creates a timer that calls `action` on the loop. A loop has only a few timers, so they are searched
    /// sequentially.
    public func makeTimer(_ action: @escaping () -> Void) -> LoopTimer {
        preconditionOnLoop()
        let timer = LoopTimer(action: action)
        timers.append(timer)
        return timer
    }

    /// Removes a timer from the loop.
    public func remove(_ timer: LoopTimer) {
        preconditionOnLoop()
        timers.removeAll { $0 === timer }
    }

    // MARK: The thread

    /// The state of the loop after a turn, for its runner.
    package enum Rest: Sendable, Equatable {
        /// There is more to do at once.
        case busy
        /// The loop waits for its descriptors, for work, or for the time of its next timer.
        case idle(until: MonotonicTime?)
        /// The loop has ended.
        case ended
    }

    /// Makes the caller's thread the loop's for one turn, for runners that run several loops on one thread.
    package func turnHere() -> Rest {
        let before = LoopThread.current
        LoopThread.current = ObjectIdentifier(self)
        defer { LoopThread.current = before }
        return turn()
    }

    /// Runs one turn: the queued work, the timers that are due, and the work at the end of the turn. Only the runner
    /// calls it, on the loop's thread and never twice at once.
    func turn() -> Rest {
        let isStopping = drainInbox()
        fireTimers()
        endTurn()
        guard !isStopping else {
            registrations.removeAll()
            timers.removeAll()
            turnEnds.removeAll()
            return .ended
        }
        if inbox.withLock({ !$0.jobs.isEmpty || !$0.work.isEmpty || $0.isStopping }) { return .busy }
        guard turnEnds.isEmpty else { return .busy }
        return .idle(until: timers.lazy.compactMap(\.deadline).min())
    }

    /// Passes a descriptor's events on. Only the runner calls it, between turns.
    func dispatch(_ events: ReadyEvents, of descriptor: Int32, serial: UInt32) {
        guard let registration = registrations[descriptor], registration.serial == serial else { return }
        registration.handler(events)
    }

    private func drainInbox() -> Bool {
        let isStopping = inbox.withLock { inbox in
            swap(&inbox.jobs, &spareJobs)
            swap(&inbox.work, &spareWork)
            inbox.isWakeSent = false
            inbox.hasEnded = inbox.isStopping && spareJobs.isEmpty && spareWork.isEmpty
            return inbox.hasEnded
        }
        for work in spareWork { work() }
        for job in spareJobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        spareWork.removeAll(keepingCapacity: true)
        spareJobs.removeAll(keepingCapacity: true)
        return isStopping
    }

    private func fireTimers() {
        guard !timers.isEmpty else { return }
        var now: MonotonicTime?
        // The loop uses indices, since an action may add and remove timers.
        var index = 0
        while index < timers.count {
            let timer = timers[index]
            index += 1
            guard let deadline = timer.deadline else { continue }
            let time = now ?? .now
            now = time
            if deadline <= time {
                timer.deadline = nil
                timer.action()
            }
        }
    }
}

/// The operations for which a descriptor is ready.
public struct ReadyEvents: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: UInt8
    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The descriptor can be read.
    public static let readable = ReadyEvents(rawValue: 1)
    /// The descriptor can be written.
    public static let writable = ReadyEvents(rawValue: 2)
    /// An error or a hang-up, which is reported even without being requested.
    public static let failed = ReadyEvents(rawValue: 4)

    init(epoll: UInt32) {
        var events: ReadyEvents = []
        if epoll & UInt32(TRANSFER_EPOLL_IN | TRANSFER_EPOLL_PRIORITY) != 0 { events.insert(.readable) }
        if epoll & UInt32(TRANSFER_EPOLL_OUT) != 0 { events.insert(.writable) }
        if epoll & UInt32(TRANSFER_EPOLL_ERROR | TRANSFER_EPOLL_HANG_UP) != 0 { events.insert(.failed) }
        self = events
    }

    var epoll: UInt32 {
        (contains(.readable) ? UInt32(TRANSFER_EPOLL_IN) : 0) | (contains(.writable) ? UInt32(TRANSFER_EPOLL_OUT) : 0)
    }
}

/// A timer of one loop, which must be used on that loop only.
public final class LoopTimer {
    var deadline: MonotonicTime?
    let action: () -> Void

    init(action: @escaping () -> Void) { self.action = action }

    /// Sets the time at which the timer fires once, in place of an earlier setting.
    public func schedule(at time: MonotonicTime) { deadline = time }

    /// Cancels the timer, which can be scheduled again.
    public func cancel() { deadline = nil }

    /// Whether the timer will fire.
    public var isScheduled: Bool { deadline != nil }
}
