/// A path or a name of a file, for dictionaries, sets and comparisons: equal only where its bytes are.
///
/// `String` takes texts for equal that are canonically equivalent (UAX #15), as "é" in one scalar and in two are. To Linux,
/// where a name is bytes, those are two files, and with strings as keys one would take the other's place.
public struct PathKey: Sendable, Hashable {
    public let text: String

    public init(_ text: String) { self.text = text }

    public static func == (one: PathKey, other: PathKey) -> Bool {
        // Equal texts have equal bytes; comparing texts first costs a fraction.
        one.text == other.text && one.text.utf8.elementsEqual(other.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // Keeps "ab", "c" apart from "a", "bc" where several are hashed.
        hasher.combine(0xFF as UInt8)
    }
}
