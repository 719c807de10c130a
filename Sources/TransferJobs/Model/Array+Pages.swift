extension Array {
    /// Returns the elements in their order, in arrays of at most `size` elements.
    package func pages(of size: Int) -> [Self] {
        stride(from: 0, to: count, by: Swift.max(1, size)).map { Self(self[$0..<Swift.min($0 + size, count)]) }
    }
}
