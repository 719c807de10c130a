import Testing
import TransferCore

@Suite struct FittedNameTests {
    private static let names = [
        "n", "n.iso", String(repeating: "n", count: 246), String(repeating: "n", count: 250),
        String(repeating: "n", count: 251), String(repeating: "n", count: 255),
        String(repeating: "é", count: 127) + "x",
        String(repeating: "日", count: 83) + ".iso.x", "👩‍👩‍👧‍👦" + String(repeating: "👩‍👩‍👧‍👦", count: 9),
        // One character that is longer than any name may be.
        "a" + String(repeating: "\u{301}", count: 200), "." + String(repeating: "b", count: 254),
        "a." + String(repeating: "b", count: 253), String(repeating: ".", count: 255),
    ]

    @Test(arguments: names, [64, 143, 255]) func nothingIsLongerThanItMayBe(_ name: String, _ limit: Int) {
        for text in [
            FittedName.make(name, ".part", limit: limit), FittedName.make(name, ".99.part.old", limit: limit),
            FittedName.numbered(name, 1, limit: limit), FittedName.numbered(name, 123_456, limit: limit),
            FittedName.shortened(name, limit: limit),
        ] {
            #expect(text.utf8.count <= limit && !text.isEmpty, "\(text)")
            // The cut is between two characters, so no replacement character occurs.
            #expect(!text.unicodeScalars.contains("\u{FFFD}"))
        }
        #expect(FittedName.make(name, ".part", limit: limit).hasSuffix(".part"))
    }

    @Test func fittingNamesAreUnchanged() {
        let name = String(repeating: "n", count: 250)
        #expect(FittedName.make(name, ".part", limit: 255) == name + ".part")
        #expect(FittedName.numbered("x.tar.gz", 2, limit: 255) == "x.tar.2.gz")
        #expect(FittedName.numbered(".profile", 1, limit: 255) == ".profile.1")
        #expect(FittedName.numbered("x", 1, limit: 255) == "x.1")
        #expect(FittedName.shortened("x.iso", limit: 255) == "x.iso")
    }

    @Test func longNamesThatBeginAlikeStayApart() {
        let names = (0..<100).map { String(repeating: "n", count: 253) + "\($0)" }.map { String($0.prefix(255)) }
        let made = Set(names).map { FittedName.make($0, ".part", limit: 255) }
        #expect(Set(made).count == Set(names).count)
        // The result is the same in each process and on each machine.
        #expect(
            FittedName.make(String(repeating: "n", count: 255), ".part", limit: 255)
                == String(repeating: "n", count: 233) + "~c2c977771654d7a9.part")
    }

    @Test func theExtensionStays() {
        let name = String(repeating: "n", count: 251) + ".iso"
        #expect(FittedName.numbered(name, 12, limit: 255) == String(repeating: "n", count: 248) + ".12.iso")
        #expect(
            FittedName.shortened(String(repeating: "é", count: 200) + ".tar", limit: 255)
                == String(repeating: "é", count: 125) + ".tar")
        // A dot far from the end does not begin an extension.
        #expect(FittedName.shortened("a." + String(repeating: "b", count: 400), limit: 255).utf8.count == 255)
        #expect(
            FittedName.shortened(
                String(repeating: "n", count: 254) + ". x " + String(repeating: "y", count: 20), limit: 255)
                == String(repeating: "n", count: 254))
    }
}
