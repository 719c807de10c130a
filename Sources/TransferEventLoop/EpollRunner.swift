import CTransferLinux
import Glibc
import Synchronization
import TransferCore

/// The thread of a loop: epoll, an eventfd that wakes it and a timerfd for its timers.
///
/// `@unchecked Sendable`: the descriptors are constant, `processorClock` is protected by a lock, and `armed` is accessed
/// on the thread only.
final class EpollRunner: LoopRunner, @unchecked Sendable {
    private let epoll: Int32
    private let wakeDescriptor: Int32
    private let timerDescriptor: Int32
    private let processorClock = Mutex<clockid_t?>(nil)
    /// The time to which the timerfd is set.
    private var armed: MonotonicTime?

    init() throws(TransferError) {
        epoll = transfer_epoll_create()
        wakeDescriptor = transfer_eventfd()
        timerDescriptor = transfer_timerfd()
        guard epoll >= 0, wakeDescriptor >= 0, timerDescriptor >= 0 else {
            throw TransferError(
                .internalFault,
                "no file descriptors left for an event loop: raise the limit with ulimit -n, or LimitNOFILE= in a unit",
                cause: .os(errno: errno))
        }
        for descriptor in [wakeDescriptor, timerDescriptor] {
            _ = transfer_epoll_control(
                epoll, Operation.add, descriptor, ReadyEvents.readable.epoll, Self.tag(descriptor, 0))
        }
    }

    deinit {
        close(epoll)
        close(wakeDescriptor)
        close(timerDescriptor)
    }

    func start(_ loop: EventLoop, name: String) throws {
        let started = try LoopThread.start(name: name) { [self] in run(loop) }
        var clock = clockid_t()
        // The thread exists at this point, since it ends after `EventLoop.stop()` at the earliest.
        if pthread_getcpuclockid(started, &clock) == 0 { processorClock.withLock { [clock] in $0 = clock } }
    }

    func wake() {
        var one: UInt64 = 1
        _ = write(wakeDescriptor, &one, 8)
    }

    func watch(_ descriptor: Int32, for events: ReadyEvents, serial: UInt32, isNew: Bool) {
        let tag = Self.tag(descriptor, serial)
        let (first, second) = isNew ? (Operation.add, Operation.modify) : (Operation.modify, Operation.add)
        if transfer_epoll_control(epoll, first, descriptor, events.epoll, tag) != 0 {
            // The descriptor was closed without the loop's knowledge and its number reused, or the other way round.
            _ = transfer_epoll_control(epoll, second, descriptor, events.epoll, tag)
        }
    }

    func unwatch(_ descriptor: Int32) { _ = transfer_epoll_control(epoll, Operation.delete, descriptor, 0, 0) }

    var processorTime: Double {
        guard let clock = processorClock.withLock({ $0 }) else { return 0 }
        return Double(max(0, transfer_clock(clock))) / 1e9
    }

    private func run(_ loop: EventLoop) {
        LoopThread.current = ObjectIdentifier(loop)
        defer { LoopThread.current = nil }
        var events = [epoll_event](repeating: epoll_event(), count: 256)
        while true {
            let timeout: Int32
            switch loop.turn() {
            case .ended: return
            case .busy: timeout = 0
            case .idle(let next): timeout = arm(next)
            }
            let count = epoll_wait(epoll, &events, Int32(events.count), timeout)
            guard count > 0 else { continue }
            for event in events[..<Int(count)] { dispatch(event, loop) }
        }
    }

    private func dispatch(_ event: epoll_event, _ loop: EventLoop) {
        let tag = withUnsafePointer(to: event) { transfer_epoll_tag($0) }
        let descriptor = Int32(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        if descriptor == wakeDescriptor || descriptor == timerDescriptor {
            var count: UInt64 = 0
            _ = read(descriptor, &count, 8)
            if descriptor == timerDescriptor { armed = nil }
            return
        }
        loop.dispatch(
            ReadyEvents(epoll: event.events), of: descriptor, serial: UInt32(truncatingIfNeeded: tag >> 32))
    }

    /// Sets the timerfd to the earliest deadline. A deadline later than the current setting needs no system call; it
    /// costs at most one idle wake-up.
    ///
    /// - Returns: The timeout for epoll_wait: 0 where the deadline has passed, and otherwise -1 for no limit.
    private func arm(_ next: MonotonicTime?) -> Int32 {
        guard let next else { return -1 }
        if next <= MonotonicTime.now { return 0 }
        if let armed, armed <= next { return -1 }
        _ = transfer_timerfd_set(timerDescriptor, next.nanoseconds)
        armed = next
        return -1
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
