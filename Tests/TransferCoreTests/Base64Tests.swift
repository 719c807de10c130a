import Testing
import TransferCore

@Suite struct Base64Tests {
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] as [(String, String)])
    func encodesRFC4648sVectors(_ plain: String, _ encoded: String) {
        #expect(Base64.encode(plain.utf8) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
    }

    @Test func everyByteComesBack() {
        for count in 0...258 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Hexadecimal.decode(Hexadecimal.encode(bytes)) == bytes)
        }
        #expect(Base64.encode([0xFB, 0xFF, 0xFE]) == "+//+")
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "A===", "Zm 9", "Zm9v\n", "-_-_", "Zg==Zg=="])
    func refusesWhatItWouldNotHaveWritten(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func checksumsHaveTheirBytes() throws {
        let empty = try #require(Checksum("md5:D41D8CD98F00B204E9800998ECF8427E"))
        #expect(empty.base64 == "1B2M2Y8AsgTpgAmY7PhCfg==")
        #expect(Checksum(.md5, bytes: empty.bytes) == empty)
        #expect(Checksum(.sha256, bytes: empty.bytes) == nil)
        #expect(Hexadecimal.decode("0") == nil)
        #expect(Hexadecimal.decode("0g") == nil)
        #expect(Hexadecimal.decode("aFf0") == [0xAF, 0xF0])
    }
}
