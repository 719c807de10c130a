import CTransferLinux
import Glibc
import Synchronization
public import TransferCore

/// A thread with epoll, an eventfd that wakes it and a timerfd for its timers, and also an executor to which actors can
/// be pinned.
///
/// An actor pinned to the loop runs only on its thread. Callbacks of C libraries on that thread enter the actor through
/// ``LoopActor/onLoop(_:)``.
///
/// `@unchecked Sendable`: `inbox` and `thread` are protected by a lock, or set before the thread runs. Everything else
/// is accessed on the loop's own thread only, as `preconditionOnLoop()` checks.
public final class EventLoop: SerialExecutor, @unchecked Sendable {
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var work: [@Sendable () -> Void] = []
        var isWakeSent = false
        var isStopping = false
        var hasEnded = false
    }

    private let inbox = Mutex(Inbox())
    private let epoll: Int32
    private let wake: Int32
    private let timerDescriptor: Int32
    private let thread = Mutex<pthread_t?>(nil)
    private let processorClock = Mutex<clockid_t?>(nil)

    // The following values are accessed on the loop's thread only.
    private var registrations: [Int32: Registration] = [:]
    private var lastRegistration: UInt32 = 0
    private var timers: [LoopTimer] = []
    private var armed: MonotonicTime?
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
        epoll = transfer_epoll_create()
        wake = transfer_eventfd()
        timerDescriptor = transfer_timerfd()
        guard epoll >= 0, wake >= 0, timerDescriptor >= 0 else {
            throw TransferError(
                .internalFault,
                "no file descriptors left for an event loop: raise the limit with ulimit -n, or LimitNOFILE= in a unit",
                cause: .os(errno: errno))
        }
        watch(wake, serial: 0)
        watch(timerDescriptor, serial: 0)
        let started = try LoopThread.start(name: name) { [self] in run() }
        thread.withLock { $0 = started }
        var clock = clockid_t()
        // The thread exists at this point, since it ends after `stop()` at the earliest.
        if pthread_getcpuclockid(started, &clock) == 0 { processorClock.withLock { [clock] in $0 = clock } }
    }

    /// The processor time of the thread in seconds, including the kernel's time on its behalf; 0 where the system does
    /// not report it.
    public var processorTime: Double {
        guard let clock = processorClock.withLock({ $0 }) else { return 0 }
        return Double(max(0, transfer_clock(clock))) / 1e9
    }

    deinit {
        close(epoll)
        close(wake)
        close(timerDescriptor)
    }

    /// Ends the thread once the queued work has run. The loop cannot be used afterwards.
    public func stop() {
        inbox.withLock { $0.isStopping = true }
        sendWake()
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
        if mustWake { sendWake() }
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
        if mustWake == true { sendWake() }
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
        let tag = Self.tag(descriptor, lastRegistration)
        let (first, second) = isNew ? (Operation.add, Operation.modify) : (Operation.modify, Operation.add)
        if transfer_epoll_control(epoll, first, descriptor, events.epoll, tag) != 0 {
            // The descriptor was closed without the loop's knowledge and its number reused, or the other way round.
            _ = transfer_epoll_control(epoll, second, descriptor, events.epoll, tag)
        }
    }

    /// Removes the registration of a descriptor; one that is not registered is no error. The function must run on the
    /// loop.
    public func unregister(_ descriptor: Int32) {
        preconditionOnLoop()
        guard registrations.removeValue(forKey: descriptor) != nil else { return }
        _ = transfer_epoll_control(epoll, Operation.delete, descriptor, 0, 0)
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

    private func run() {
        LoopThread.current = ObjectIdentifier(self)
        var events = [epoll_event](repeating: epoll_event(), count: 256)
        while true {
            let isStopping = drainInbox()
            fireTimers()
            endTurn()
            if isStopping { break }
            let timeout = armTimer()
            let count = epoll_wait(epoll, &events, Int32(events.count), timeout)
            guard count > 0 else { continue }
            for event in events[..<Int(count)] { dispatch(event) }
        }
        registrations.removeAll()
        timers.removeAll()
        turnEnds.removeAll()
        LoopThread.current = nil
    }

    private func dispatch(_ event: epoll_event) {
        let tag = withUnsafePointer(to: event) { transfer_epoll_tag($0) }
        let descriptor = Int32(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        if descriptor == wake || descriptor == timerDescriptor {
            var count: UInt64 = 0
            _ = read(descriptor, &count, 8)
            if descriptor == timerDescriptor { armed = nil }
            return
        }
        guard let registration = registrations[descriptor],
            registration.serial == UInt32(truncatingIfNeeded: tag >> 32)
        else { return }
        registration.handler(ReadyEvents(epoll: event.events))
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

    /// Sets the timerfd to the earliest deadline. A deadline later than the current setting needs no system call; it
    /// costs at most one idle wake-up.
    ///
    /// - Returns: The timeout for epoll_wait: 0 where there is work, and otherwise -1 for no limit.
    private func armTimer() -> Int32 {
        if inbox.withLock({ !$0.jobs.isEmpty || !$0.work.isEmpty || $0.isStopping }) { return 0 }
        guard turnEnds.isEmpty else { return 0 }
        guard let next = timers.lazy.compactMap(\.deadline).min() else { return -1 }
        let now = MonotonicTime.now
        if next <= now { return 0 }
        if let armed, armed <= next { return -1 }
        _ = transfer_timerfd_set(timerDescriptor, next.nanoseconds)
        armed = next
        return -1
    }

    private func watch(_ descriptor: Int32, serial: UInt32) {
        _ = transfer_epoll_control(
            epoll, Operation.add, descriptor, ReadyEvents.readable.epoll, Self.tag(descriptor, serial))
    }

    private func sendWake() {
        var one: UInt64 = 1
        _ = write(wake, &one, 8)
    }

    private static func tag(_ descriptor: Int32, _ serial: UInt32) -> UInt64 {
        UInt64(serial) << 32 | UInt64(UInt32(bitPattern: descriptor))
    }

    private enum Operation {
        static let add = Int32(TRANSFER_EPOLL_ADD)
        static let modify = Int32(TRANSFER_EPOLL_MODIFY)
        static let delete = Int32(TRANSFER_EPOLL_DELETE)
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
