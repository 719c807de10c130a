extension String {
    /// A sentence of another program, or of the system, as a part of one of ours: `No such file` becomes `no such file`.
    ///
    /// Names keep their case: `HTTP/2 stream 1`, `SSL_connect`, `OpenSSL`, `I/O`.
    package var lowercasedFirst: String {
        let word = utf8.prefix { $0 > 0x20 }
        guard word.dropFirst().allSatisfy({ (0x61...0x7A).contains($0) || Self.marks.contains($0) }) else {
            return self
        }
        return prefix(1).lowercased() + dropFirst()
    }

    /// Characters that a plain word may have in it or behind it.
    private static let marks = Set(",.:;!?'-/\\\"()".utf8)
}
