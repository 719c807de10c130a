import Synchronization
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue

/// An observer of batches that other processes work on. It queries the queue every second, and delivers ends as events
/// of jobs and counts as progress.
final class FleetWatch: Sendable {
    private let remote: QueueRemote
    private let address: FleetAddress
    private let beginning: FleetView
    private let isStopped = Mutex(false)

    /// The number of ends that are read at a time.
    private static let page = 1000

    /// Creates an observer.
    ///
    /// - Parameter view: The state of the batches before.
    init(_ address: FleetAddress, _ remote: QueueRemote, view: FleetView) {
        self.address = address
        self.remote = remote
        beginning = view
    }

    /// Creates an observer of a batch from now on.
    convenience init(_ address: FleetAddress, _ remote: QueueRemote, batch name: String) throws {
        var view = FleetView(since: .now)
        view.cursor = try remote.lastCursor()
        view.add(name, kept: try remote.statuses(name: name).first?.done ?? 0)
        self.init(address, remote, view: view)
    }

    /// Ends the observation: it cancels a query that waits for the database, or prevents the next one.
    func stop() {
        isStopped.withLock { $0 = true }
        remote.cancelWaits()
    }

    /// Follows the batches to their ends.
    ///
    /// - Parameters:
    ///   - connectionNotice: A closure that gets the reason when the database is unavailable, and `nil` when it is available.
    ///   - show: A closure that gets the current transfers; `nil` where they are not shown.
    ///   - receive: A closure that gets the events.
    /// - Returns: `workLeft` where the observation was stopped before.
    func follow(
        connectionNotice: @Sendable (TransferError?) -> Void = { _ in },
        show: (@Sendable ([QueueEvent]) -> Void)? = nil, receive: @Sendable (QueueEvent) -> Void
    ) async throws -> ExitStatus {
        let loop = try EventLoop(name: "fleet")
        defer { loop.stop() }
        var view = beginning
        // An unreachable database is asked less and less often.
        var pauses = ReconnectPauses(longest: .seconds(10))
        var due = MonotonicTime.now
        for await _ in Ticks.every(.milliseconds(500), on: loop) {
            guard !isStopped.withLock({ $0 }) else { return .workLeft }
            guard due <= .now else { continue }
            do {
                try look(&view, receive)
                if let show { show(view.transfers(try remote.jobsUnderWay())) }
                connectionNotice(nil)
                pauses.reset()
            } catch {
                if isStopped.withLock({ $0 }) { return .workLeft }
                guard let reason = address.unavailability(error) else { throw error }
                connectionNotice(reason)
                due = .now + pauses.next()
            }
            if view.hasEnded { break }
        }
        return view.hasFailures ? .someFailed : .complete
    }

    private func look(_ view: inout FleetView, _ receive: (QueueEvent) -> Void) throws {
        // The ends behind these counts exist when they are read.
        let statuses = try view.names.compactMap { try remote.statuses(name: $0).first }
        for event in view.begin(statuses) { receive(event) }
        while true {
            let page = try remote.ends(after: view.cursor, limit: Self.page)
            for event in view.take(page) { receive(event) }
            guard page.count == Self.page else { break }
        }
        for event in view.progress(statuses) { receive(event) }
    }
}
