import TransferCore

/// The check that a proposed name of a server or a URL is one name, in one folder, which a terminal can show.
enum FileNameCheck {
    static func check(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let names = [
            ContentDisposition.fileName(text).flatMap { SafeFileName.make($0) }, SafeFileName.make(text),
            SafeFileName.fromURL("http://host/" + text),
        ]
        for case let name? in names {
            try require(!name.isEmpty, "an empty name")
            try require(name != "." && name != "..", "\(name) is a folder")
            try require(name.utf8.first != UInt8(ascii: "."), "\(name.debugDescription) is hidden")
            let isPlain = name.utf8.allSatisfy { $0 != 0x2F && $0 != 0x5C && $0 >= 0x20 && $0 != 0x7F }
            try require(isPlain, "a slash or a control")
            try require(name.utf8.count <= 255, "a name of \(name.utf8.count) bytes")
            try require(SafeFileName.make(name) == name, "\(name.debugDescription) is not safe to itself")
        }
    }
}
