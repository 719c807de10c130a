extension Array {
    /// The elements in their order, so many at a time.
    package func pages(of size: Int) -> [Self] {
        stride(from: 0, to: count, by: Swift.max(1, size)).map { Self(self[$0..<Swift.min($0 + size, count)]) }
    }
}
