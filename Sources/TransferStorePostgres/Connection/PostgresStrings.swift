/// Texts as libpq takes them: an array of pointers, with a null pointer behind the last.
enum PostgresStrings {
    typealias Pointers = UnsafePointer<UnsafePointer<CChar>?>

    static func with<Result>(_ texts: [String?], _ body: (Pointers?) -> Result) -> Result {
        with(texts) { pointers, _ in body(pointers) }
    }

    /// - Parameter body: The function that gets the pointers and their number. A text ends at its first NUL.
    static func with<Result>(_ texts: [String?], _ body: (Pointers?, Int32) -> Result) -> Result {
        var bytes: [CChar] = []
        var starts: [Int?] = []
        for text in texts {
            starts.append(text == nil ? nil : bytes.count)
            guard let text else { continue }
            bytes.append(contentsOf: text.utf8.lazy.map { CChar(bitPattern: $0) })
            bytes.append(0)
        }
        return bytes.withUnsafeBufferPointer { buffer in
            let pointers =
                starts.map { start in start.flatMap { start in buffer.baseAddress.map { $0 + start } } } + [nil]
            return pointers.withUnsafeBufferPointer { body($0.baseAddress, Int32(texts.count)) }
        }
    }
}
