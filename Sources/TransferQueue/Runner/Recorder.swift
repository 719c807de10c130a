import TransferCore
import TransferEngine
import TransferJobs

/// Ends and steps of jobs on their way to the store: while a group is written down the next one gathers, and for some
/// moments after one began, while there is other work: each keeps the disk, and whoever else writes to it, waiting.
struct Recorder {
    private(set) var ends: [JobEnd] = []
    private(set) var steps: [JobStep] = []
    var givenBack = GivenBack()
    private var isWriting = false
    /// Until then ends gather, unless somebody waits for them.
    private var nextGroup: MonotonicTime

    private static let pause = Duration.milliseconds(100)
    private static let fullGroup = 256

    init(now: MonotonicTime) { nextGroup = now }

    var isEmpty: Bool { ends.isEmpty && steps.isEmpty }

    /// Whether something of the job is still to be written.
    func holds(_ id: Int64) -> Bool { ends.contains { $0.id == id } || steps.contains { $0.id == id } }

    mutating func add(_ end: JobEnd) { ends.append(end) }

    mutating func add(_ step: JobStep) { steps.append(step) }

    /// Steps that aren't on their way yet.
    mutating func change(where isMeant: (JobStep) -> Bool, _ change: (inout JobStep) -> Void) {
        for index in steps.indices where isMeant(steps[index]) { change(&steps[index]) }
    }

    /// Jobs that were to go on are cancelled instead.
    mutating func cancel(where isMeant: (JobStep) -> Bool) {
        let meant = steps.filter(isMeant)
        steps.removeAll(where: isMeant)
        ends += meant.map { step in
            var end = JobEnd(id: step.id, batch: step.batch, identity: step.identity, outcome: .cancelled)
            end.route = step.route
            return end
        }
    }

    enum Answer {
        /// There is nothing, or a group is under way.
        case nothing
        /// What there is goes on gathering until then.
        case later(MonotonicTime)
        case write([JobEnd], [JobStep])
    }

    /// - Parameter isAwaited: There is no other work.
    mutating func next(now: MonotonicTime, isAwaited: Bool) -> Answer {
        guard !isWriting, !isEmpty else { return .nothing }
        guard isAwaited || !steps.isEmpty || ends.count >= Self.fullGroup || now >= nextGroup else {
            return .later(nextGroup)
        }
        nextGroup = now + Self.pause
        isWriting = true
        return .write(exchange(&ends, with: []), exchange(&steps, with: []))
    }

    /// The group that was under way is in the store.
    mutating func written() { isWriting = false }
}
