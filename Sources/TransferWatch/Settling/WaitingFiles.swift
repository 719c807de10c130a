import TransferCore

/// The settled files until the consumer has them: a limited number that waits, and a batch that is offered.
struct WaitingFiles: Sendable {
    let capacity: Int
    private let order: WatchOrder
    private var files: [PathKey: FileVersion] = [:]
    private var offered: [FileVersion] = []
    /// The offered files that have not been removed or replaced since.
    private var current: [PathKey: FileVersion] = [:]
    private(set) var isOffering = false
    /// Whether the consumer is full, until it reports room.
    private(set) var isHeld = false
    /// Whether the consumer reported room during an offer, so that its answer is already out of date.
    private var mayProceed = false
    /// The time since when the first of the waiting files has waited.
    private(set) var since: MonotonicTime?

    init(capacity: Int, order: WatchOrder) {
        self.capacity = max(1, capacity)
        self.order = order
    }

    /// The room for files that are found by reading.
    var room: Int { max(0, capacity - files.count) }
    /// The room for files of new events, which may have to be first in order.
    var roomForNews: Int { order == .oldest ? room : max(0, 2 * capacity - files.count) }
    var isEmpty: Bool { files.isEmpty && !isOffering }
    /// The number of files that are held, for tests of the memory.
    var count: Int { files.count + offered.count }
    var canOffer: Bool { !isOffering && !isHeld && !files.isEmpty }

    /// Returns whether this very version waits or is offered.
    func contains(_ version: FileVersion) -> Bool {
        files[version.key] == version || current[version.key] == version
    }

    mutating func add(_ version: FileVersion, at now: MonotonicTime) {
        if files.isEmpty { since = now }
        files[version.key] = version
    }

    /// Drops the waiting file of that name, because it is gone.
    mutating func drop(_ path: String) {
        files[PathKey(path)] = nil
        current[PathKey(path)] = nil
        if files.isEmpty { since = nil }
    }

    mutating func drop(folder: String) {
        for key in files.keys.filter({ PathText.isInside($0.text, folder) }) { drop(key.text) }
        current = current.filter { !PathText.isInside($0.key.text, folder) }
    }

    /// Takes the next batch in order; the consumer's answer is awaited.
    mutating func offer() -> [FileVersion] {
        offered = Array(files.values.sorted(by: order.puts).prefix(capacity))
        for version in offered { files[version.key] = nil }
        if files.isEmpty { since = nil }
        current = Dictionary(offered.map { ($0.key, $0) }) { $1 }
        isOffering = true
        mayProceed = false
        return offered
    }

    /// Takes the consumer's answer.
    ///
    /// - Parameter handled: The number of files that the consumer has handled, from the first on.
    /// - Returns: The handled files.
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

    /// Notes that the consumer has room again.
    mutating func proceed() {
        isHeld = false
        mayProceed = true
    }
}
