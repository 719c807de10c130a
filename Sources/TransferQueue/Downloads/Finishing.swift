/// The complete downloads that wait to be made durable together, and those that workers are saving.
struct Finishing {
    private var items: [DownloadCompletion.Item] = []
    /// The number of downloads that workers are saving.
    private(set) var underWay = 0

    private static let fullGroup = 256

    var isEmpty: Bool { items.isEmpty }
    /// The number of unsaved downloads; each holds a descriptor until it is durable.
    var count: Int { items.count + underWay }
    var isFull: Bool { items.count >= Self.fullGroup }

    mutating func add(_ item: DownloadCompletion.Item) { items.append(item) }

    /// Takes all downloads out, in groups that are saved separately, so that a large file does not delay the small
    /// ones.
    mutating func take() -> [[DownloadCompletion.Item]] {
        guard !items.isEmpty else { return [] }
        let large = items.filter(\.isLarge)
        let small = items.filter { !$0.isLarge }
        items.removeAll(keepingCapacity: true)
        underWay += large.count + small.count
        return large.map { [$0] } + (small.isEmpty ? [] : [small])
    }

    mutating func saved(_ count: Int) { underWay -= count }
}
