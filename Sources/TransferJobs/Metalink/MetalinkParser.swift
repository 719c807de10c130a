import TransferCore

/// The parser of Metalink 4 (RFC 5854) and Metalink 3 (metalinker.org), which returns one file at a time.
///
/// Unused elements, such as signatures, languages and torrents, are skipped, and so are elements of other namespaces. A
/// fault of the XML ends the parsing; an invalid value is noted, and the parsing continues.
package struct MetalinkParser {
    package enum Item {
        case file(MetalinkFile)
        case problem(message: String, range: Range<Int>)
    }

    package static let space4 = "urn:ietf:params:xml:ns:metalink"
    package static let space3 = "http://www.metalinker.org/"

    private enum Version { case three, four }

    /// The state of an open element.
    private struct Element {
        var name: String
        var attributes: [XMLScanner.Attribute]
        var range: Range<Int>
        var text = ""
        var textRange: Range<Int>?

        func value(_ key: String) -> XMLScanner.Attribute? {
            attributes.first { $0.name == XMLName(space: "", local: key) }
        }
    }

    private struct Pieces {
        var length: Int64?
        var algorithm: DigestAlgorithm?
        var digests: [Checksum] = []
        var isWrong = false
        var range: Range<Int>
    }

    /// The maximum length in bytes of a text that is used.
    private static let maxText = 64 << 10
    private static let maxPieces = 1 << 22

    private var scanner: XMLScanner
    private var version: Version?
    private var path: [Element] = []
    private var file: MetalinkFile?
    private var pieces: Pieces?
    private var problems: [(message: String, range: Range<Int>)] = []

    package init(_ bytes: UnsafeBufferPointer<UInt8>) { scanner = XMLScanner(bytes) }

    /// Returns the next file or a problem; `nil` at the end.
    package mutating func next() throws(XMLScanner.Fault) -> Item? {
        while true {
            if !problems.isEmpty {
                let problem = problems.removeFirst()
                return .problem(message: problem.message, range: problem.range)
            }
            guard let event = try scanner.next() else { return nil }
            switch event {
            case .start(let name, let attributes, let range): try begin(name, attributes, range)
            case .text(let text, let range): try add(text, range)
            case .end:
                if let file = end() { return .file(file) }
            }
        }
    }

    // MARK: Elements

    private mutating func begin(
        _ name: XMLName, _ attributes: [XMLScanner.Attribute], _ range: Range<Int>
    ) throws(XMLScanner.Fault) {
        if path.isEmpty { version = try Self.version(name, attributes, range) }
        let isOurs =
            name.space == (version == .four ? Self.space4 : Self.space3) || version == .three && name.space == ""
        path.append(Element(name: isOurs ? name.local : "", attributes: attributes, range: range))
        switch place {
        case "file":
            file = MetalinkFile()
            file?.range = range
            guard let written = path[path.count - 1].value("name") else {
                return note("a file without a name", range)
            }
            file?.name = written.value
            file?.nameRange = written.range
        case "file/pieces", "file/verification/pieces": beginPieces(range)
        default: break
        }
    }

    private static func version(
        _ name: XMLName, _ attributes: [XMLScanner.Attribute], _ range: Range<Int>
    ) throws(XMLScanner.Fault) -> Version {
        let written = attributes.first { $0.name.local == "version" }?.value
        if name.local == "metalink" {
            if name.space == space4 { return .four }
            if name.space == space3 || name.space == "" && written == "3.0" { return .three }
        }
        throw XMLScanner.Fault(
            message:
                "no Metalink: its first element is <metalink xmlns=\"\(space4)\">, or of version 3 with the namespace"
                + " \(space3)",
            range: range)
    }

    /// The names of the open elements within the root, joined with slashes; Metalink 3's enclosing `files` is left out.
    private var place: String {
        let names = path.dropFirst().map(\.name)
        return (version == .three && names.first == "files" ? names.dropFirst()[...] : names[...])
            .joined(separator: "/")
    }

    private mutating func add(_ text: String, _ range: Range<Int>) throws(XMLScanner.Fault) {
        guard !path.isEmpty else { return }
        let last = path.count - 1
        guard path[last].text.utf8.count + text.utf8.count <= Self.maxText else {
            if path[last].name.isEmpty || text.allSatisfy(\.isWhitespace) { return }
            // Signatures and descriptions may be long and are not used, so their text is dropped.
            path[last].text = ""
            path[last].name = ""
            return
        }
        path[last].text += text
        path[last].textRange = (path[last].textRange?.lowerBound ?? range.lowerBound)..<range.upperBound
    }

    /// Ends an element.
    ///
    /// - Returns: The file that the element completes, or `nil`.
    private mutating func end() -> MetalinkFile? {
        let place = place
        let element = path.removeLast()
        let text = element.text.trimmingXMLSpace
        let range = element.textRange ?? element.range
        switch place {
        case "file":
            defer { file = nil }
            return file
        case "file/size": endSize(text, range)
        case "file/hash", "file/verification/hash": endHash(element, text, range)
        case "file/pieces/hash", "file/verification/pieces/hash": endPiece(element, text, range)
        case "file/pieces", "file/verification/pieces": endPieces()
        case "file/url", "file/resources/url": endURL(element, text, range)
        case "file/metaurl": file?.foreignSources += 1
        default: break
        }
        return nil
    }

    private mutating func endSize(_ text: String, _ range: Range<Int>) {
        guard let size = Int64(text), size >= 0 else {
            return note("\(Wording.quoted(text)) is no size in bytes", range)
        }
        file?.size = size
        file?.sizeRange = range
    }

    private mutating func endHash(_ element: Element, _ text: String, _ range: Range<Int>) {
        guard let type = element.value("type") else { return note("a hash without a type", element.range) }
        guard let algorithm = DigestAlgorithm(hashName: type.value) else { return }
        guard let digest = Checksum(algorithm, hex: text) else {
            return note("\(Wording.quoted(text)) is no \(algorithm.rawValue) in hexadecimal", range)
        }
        file?.digests.append(digest)
    }

    private mutating func endURL(_ element: Element, _ text: String, _ range: Range<Int>) {
        guard !text.isEmpty else { return note("a URL is missing", element.range) }
        var priority = 999_999
        if version == .three {
            if ["bittorrent", "ed2k", "magnet"].contains(element.value("type")?.value ?? "") {
                file?.foreignSources += 1
                return
            }
            // The best preference of Metalink 3 is 100.
            if let written = element.value("preference") {
                guard let preference = Int(written.value), (0...100).contains(preference) else {
                    return note("a preference is a number from 0 to 100", written.range)
                }
                priority = 1 + 100 - preference
            }
        } else if let written = element.value("priority") {
            guard let number = Int(written.value), (1...999_999).contains(number) else {
                return note("a priority is a number from 1 to 999999", written.range)
            }
            priority = number
        }
        let location = element.value("location")?.value.lowercased() ?? ""
        file?.sources.append(.init(url: text, priority: priority, location: location, range: range))
    }

    // MARK: Pieces

    private mutating func beginPieces(_ range: Range<Int>) {
        let element = path[path.count - 1]
        var new = Pieces(range: range)
        if let length = element.value("length").flatMap({ Int64($0.value) }), length > 0 {
            new.length = length
        } else {
            note("pieces need a length of at least one byte", range)
            new.isWrong = true
        }
        if let type = element.value("type") {
            new.algorithm = DigestAlgorithm(hashName: type.value)
        } else {
            note("pieces without a type", range)
            new.isWrong = true
        }
        pieces = new
    }

    private mutating func endPiece(_ element: Element, _ text: String, _ range: Range<Int>) {
        guard let algorithm = pieces?.algorithm, pieces?.isWrong == false else { return }
        guard let digest = Checksum(algorithm, hex: text) else {
            pieces?.isWrong = true
            return note("\(Wording.quoted(text)) is no \(algorithm.rawValue) in hexadecimal", range)
        }
        // Metalink 3 numbers the pieces.
        if let written = element.value("piece"), Int(written.value) != pieces?.digests.count {
            pieces?.isWrong = true
            return note("piece \(pieces?.digests.count ?? 0) was to come", written.range)
        }
        guard (pieces?.digests.count ?? 0) < Self.maxPieces else {
            pieces?.isWrong = true
            return note("more than \(CountText.words(Self.maxPieces, "piece"))", range)
        }
        pieces?.digests.append(digest)
    }

    private mutating func endPieces() {
        guard let ended = pieces else { return }
        pieces = nil
        guard !ended.isWrong, ended.algorithm != nil, let length = ended.length else { return }
        guard let digests = PieceDigests(length: length, digests: ended.digests) else {
            return note("pieces without a hash", ended.range)
        }
        file?.pieces.append(digests)
        file?.piecesRange = ended.range
    }

    private mutating func note(_ message: String, _ range: Range<Int>) { problems.append((message, range)) }
}

extension String {
    fileprivate var trimmingXMLSpace: String {
        let start = utf8.firstIndex { !Self.isSpace($0) } ?? endIndex
        let end = utf8.lastIndex { !Self.isSpace($0) }.map { utf8.index(after: $0) } ?? start
        return String(self[start..<max(start, end)])
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
