import Testing
import TransferCore

@Suite struct PathKeyTests {
    static let composed = "caf\u{E9}/f.txt"
    static let decomposed = "cafe\u{301}/f.txt"

    @Test func equivalentTextsAreTwoKeys() {
        #expect(Self.composed == Self.decomposed, "else there is nothing to tell apart")
        #expect(PathKey(Self.composed) != PathKey(Self.decomposed))
        #expect(Set([PathKey(Self.composed), PathKey(Self.decomposed)]).count == 2)
        // U+212B (the ångström sign) and the letter U+00C5 are equivalent too, with one scalar each.
        #expect(PathKey("\u{212B}") != PathKey("\u{C5}"))
    }

    @Test func marksInAnotherOrderAreAnotherKey() {
        let (one, other) = ("a\u{301}\u{323}", "a\u{323}\u{301}")
        #expect(one == other && one.utf8.count == other.utf8.count)
        #expect(PathKey(one) != PathKey(other))
    }

    @Test(arguments: [composed, decomposed, "", "plain"])
    func theSameBytesAreOneKeyHoweverTheTextWasMade(_ text: String) {
        let copy = String(decoding: Array(text.utf8), as: UTF8.self)
        let part = String("/\(text)".dropFirst())
        #expect(Set([text, copy, part].map { PathKey($0) }).count == 1)
        #expect(Set([text, copy, part].map { PathKey($0).hashValue }).count == 1)
        #expect(PathKey(text).text.utf8.elementsEqual(text.utf8))
    }

    @Test func otherTextsAreOtherKeys() {
        #expect(PathKey("a") != PathKey("b") && PathKey("a") != PathKey("ab") && PathKey("") != PathKey("a"))
    }
}
