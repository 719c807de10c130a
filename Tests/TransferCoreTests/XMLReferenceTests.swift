import Testing

@testable import TransferCore

@Suite struct XMLReferenceTests {
    @Test(
        arguments: [
            ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("#65", "A"), ("#x1F600", "😀"),
            ("#x1f600", "😀"), ("#1", "\u{1}"),
        ] as [(String, Unicode.Scalar)])
    func aReferenceIsItsCharacter(name: String, character: Unicode.Scalar) {
        #expect(XMLReference.character(name) == character)
    }

    @Test(arguments: ["", "nbsp", "#", "#x", "#X41", "#+65", "#x-1", "#xD800", "#x110000", "#99999999999", "AMP", "65"])
    func otherReferencesAreInvalid(name: String) {
        #expect(XMLReference.character(name) == nil)
    }
}
