/// Downloads that came whole and wait to be made durable together; workers have some of them.
struct Finishing {
    private var items: [DownloadCompletion.Item] = []
    /// How many workers have.
    private(set) var underWay = 0

    private static let fullGroup = 256

    var isEmpty: Bool { items.isEmpty }
    /// Each holds a descriptor until it's durable.
    var count: Int { items.count + underWay }
    var isFull: Bool { items.count >= Self.fullGroup }

    mutating func add(_ item: DownloadCompletion.Item) { items.append(item) }

    /// Hands all of them out, to be saved group by group: a large file takes its time to be durable, and isn't to hold up
    /// the small ones.
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
