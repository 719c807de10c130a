/// A path or a file's name as a key of dictionaries and sets; two keys are equal only where their bytes are.
///
/// `String` treats canonically equivalent texts (UAX #15) as equal, such as "é" in one scalar and in two. For Linux,
/// where a name consists of bytes, these are two files. With strings as keys, one would replace the other.
public struct PathKey: Sendable, Hashable {
    /// The path or name.
    public let text: String

    /// Creates a key.
    public init(_ text: String) { self.text = text }

    public static func == (one: PathKey, other: PathKey) -> Bool {
        // Equal texts nearly always have equal bytes, and the comparison of texts is much faster.
        one.text == other.text && one.text.utf8.elementsEqual(other.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // The separator distinguishes "ab", "c" from "a", "bc" where several keys are hashed.
        hasher.combine(0xFF as UInt8)
    }
}
