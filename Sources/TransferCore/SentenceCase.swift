extension String {
    /// The text of another program, or of the system, as a part of a sentence: `No such file` becomes `no such file`.
    ///
    /// Names keep their case: `HTTP/2 stream 1`, `SSL_connect`, `OpenSSL`, `I/O`.
    package var lowercasedFirst: String {
        let word = utf8.prefix { $0 > 0x20 }
        guard word.dropFirst().allSatisfy({ (0x61...0x7A).contains($0) || Self.marks.contains($0) }) else {
            return self
        }
        return prefix(1).lowercased() + dropFirst()
    }

    /// The characters that a plain word may contain or end with.
    private static let marks = Set(",.:;!?'-/\\\"()".utf8)
}
