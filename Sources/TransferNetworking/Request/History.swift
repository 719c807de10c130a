/// The latest of many elements, so that a request that is retried for days does not grow.
struct History<Element: Sendable>: Sendable {
    /// The number of elements that are kept.
    static var limit: Int { 32 }

    private(set) var first: Element?
    private var recent: [Element] = []

    /// All elements, or the last ``limit`` if there were more.
    var elements: [Element] { recent }
    var last: Element? { recent.last }

    mutating func append(_ element: Element) {
        if first == nil { first = element }
        if recent.count == Self.limit { recent.removeFirst() }
        recent.append(element)
    }
}
