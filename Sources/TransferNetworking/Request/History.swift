/// The latest of many: a request that is retried for days must not grow.
struct History<Element: Sendable>: Sendable {
    /// How many are kept.
    static var limit: Int { 32 }

    private(set) var first: Element?
    private var recent: [Element] = []

    /// All of them, or the last ``limit`` when there were more.
    var elements: [Element] { recent }
    var last: Element? { recent.last }

    mutating func append(_ element: Element) {
        if first == nil { first = element }
        if recent.count == Self.limit { recent.removeFirst() }
        recent.append(element)
    }
}
