import TransferCore
import TransferEngine
import TransferJobs

/// The ends and steps of jobs on their way to the store. They gather while a group is written, and for a moment after
/// its start while there is other work. Each write occupies the disk and delays other writers.
struct Recorder {
    private(set) var ends: [JobEnd] = []
    private(set) var steps: [JobStep] = []
    var givenBack = GivenBack()
    private var isWriting = false
    /// The time until which ends gather, unless a caller waits for them.
    private var nextGroup: MonotonicTime

    private static let pause = Duration.milliseconds(100)
    private static let fullGroup = 256

    init(now: MonotonicTime) { nextGroup = now }

    var isEmpty: Bool { ends.isEmpty && steps.isEmpty }

    /// Returns whether a record of the job is still unwritten.
    func holds(_ id: Int64) -> Bool { ends.contains { $0.id == id } || steps.contains { $0.id == id } }

    mutating func add(_ end: JobEnd) { ends.append(end) }

    mutating func add(_ step: JobStep) { steps.append(step) }

    /// Changes steps that are not being written yet.
    mutating func change(where isMeant: (JobStep) -> Bool, _ change: (inout JobStep) -> Void) {
        for index in steps.indices where isMeant(steps[index]) { change(&steps[index]) }
    }

    /// Replaces steps of jobs by their cancellation, with all that the attempts left.
    mutating func cancel(where isMeant: (JobStep) -> Bool) {
        let meant = steps.filter(isMeant)
        steps.removeAll(where: isMeant)
        ends += meant.map(JobEnd.init(cancelled:))
    }

    enum Answer {
        /// There is nothing to write, or a group is being written.
        case nothing
        /// The records continue to gather until this time.
        case later(MonotonicTime)
        case write([JobEnd], [JobStep])
    }

    /// Decides whether to write now.
    ///
    /// - Parameter isAwaited: Whether there is no other work, so that records need not gather.
    mutating func next(now: MonotonicTime, isAwaited: Bool) -> Answer {
        guard !isWriting, !isEmpty else { return .nothing }
        guard isAwaited || !steps.isEmpty || ends.count >= Self.fullGroup || now >= nextGroup else {
            return .later(nextGroup)
        }
        nextGroup = now + Self.pause
        isWriting = true
        return .write(exchange(&ends, with: []), exchange(&steps, with: []))
    }

    /// Notes that the group is in the store.
    mutating func written() { isWriting = false }
}
