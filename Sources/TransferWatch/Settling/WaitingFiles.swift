import TransferCore

/// Files that have settled, until the consumer has them: a bounded number that waits, and a batch that is offered.
struct WaitingFiles: Sendable {
    let capacity: Int
    private let order: WatchOrder
    private var files: [PathKey: FileVersion] = [:]
    private var offered: [FileVersion] = []
    /// Waiting files that have not gone or been replaced since.
    private var current: [PathKey: FileVersion] = [:]
    private(set) var isOffering = false
    /// The consumer is full, until it says otherwise.
    private(set) var isHeld = false
    /// The consumer said so while it was being asked: its answer was true before that.
    private var mayProceed = false
    /// Since when the first of those that wait does.
    private(set) var since: MonotonicTime?

    init(capacity: Int, order: WatchOrder) {
        self.capacity = max(1, capacity)
        self.order = order
    }

    /// For what is found by reading.
    var room: Int { max(0, capacity - files.count) }
    /// For what just came, which may have to go first.
    var roomForNews: Int { order == .oldest ? room : max(0, 2 * capacity - files.count) }
    var isEmpty: Bool { files.isEmpty && !isOffering }
    /// How many are held, for tests of how little that is.
    var count: Int { files.count + offered.count }
    var canOffer: Bool { !isOffering && !isHeld && !files.isEmpty }

    /// Whether this very version waits or is offered.
    func contains(_ version: FileVersion) -> Bool {
        files[version.key] == version || current[version.key] == version
    }

    mutating func add(_ version: FileVersion, at now: MonotonicTime) {
        if files.isEmpty { since = now }
        files[version.key] = version
    }

    /// The file that waits under that name isn't there any more.
    mutating func drop(_ path: String) {
        files[PathKey(path)] = nil
        current[PathKey(path)] = nil
        if files.isEmpty { since = nil }
    }

    mutating func drop(folder: String) {
        for key in files.keys.filter({ PathText.isInside($0.text, folder) }) { drop(key.text) }
        current = current.filter { !PathText.isInside($0.key.text, folder) }
    }

    /// The next batch, the first of which goes first; the consumer's answer is awaited.
    mutating func offer() -> [FileVersion] {
        offered = Array(files.values.sorted(by: order.puts).prefix(capacity))
        for version in offered { files[version.key] = nil }
        if files.isEmpty { since = nil }
        current = Dictionary(offered.map { ($0.key, $0) }) { $1 }
        isOffering = true
        mayProceed = false
        return offered
    }

    /// - Parameter handled: How many of them, from the first, the consumer has dealt with.
    /// - Returns: Those.
    mutating func answered(handled: Int, at now: MonotonicTime) -> ArraySlice<FileVersion> {
        let batch = offered
        let taken = max(0, min(handled, batch.count))
        for version in batch[taken...] where files[version.key] == nil && current[version.key] != nil {
            add(version, at: now)
        }
        isHeld = taken < batch.count && !mayProceed
        (offered, current, isOffering) = ([], [:], false)
        return batch[..<taken]
    }

    /// The consumer has room again.
    mutating func proceed() {
        isHeld = false
        mayProceed = true
    }
}
