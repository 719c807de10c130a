import TransferCore

/// A value of a configuration file, with the places of its parts.
package indirect enum ConfigurationValue: Sendable {
    case object([Member])
    /// A value that is replaced as a whole, as JSON.
    case leaf(String, ConfigurationPlace)
    /// A `null`, which removes the value of weaker files.
    case unset

    package struct Member: Sendable {
        package var name: String
        /// The name in quotes, as written in the file.
        package var token: String
        package var value: ConfigurationValue
    }

    package static let empty = ConfigurationValue.object([])

    package var members: [Member] { if case .object(let members) = self { members } else { [] } }

    package subscript(_ name: String) -> ConfigurationValue? { members.first { $0.name == name }?.value }

    /// Returns this value with a stronger one merged over it. Objects are merged, other values replace the previous
    /// ones, and `unset` removes them.
    package func under(_ stronger: ConfigurationValue, foldsCase: Bool = false) -> ConfigurationValue {
        guard case .object(let over) = stronger else { return stronger }
        guard case .object(var members) = self else { return stronger.settled }
        for member in over {
            let index = members.firstIndex {
                foldsCase ? $0.name.asciiCaseInsensitiveEquals(member.name) : $0.name == member.name
            }
            guard let index else {
                members.append(Member(name: member.name, token: member.token, value: member.value.settled))
                continue
            }
            // HTTP field names do not distinguish upper and lower case.
            let merged = members[index].value.under(member.value, foldsCase: member.name == JobKey.headers.rawValue)
            members[index] = Member(name: member.name, token: member.token, value: merged)
        }
        return ConfigurationValue.object(members).settled
    }

    /// The value without its unset members.
    private var settled: ConfigurationValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.compactMap { member in
                if case .unset = member.value { return nil }
                return Member(name: member.name, token: member.token, value: member.value.settled)
            })
    }

    /// The value as JSON.
    package var json: String {
        switch self {
        case .leaf(let text, _): text
        case .unset: "null"
        case .object(let members): "{\(members.map { "\($0.token): \($0.value.json)" }.joined(separator: ", "))}"
        }
    }

    /// Returns the values that are not objects, in the order of the file.
    package func entries(beneath path: [String] = []) -> [ConfigurationEntry] {
        switch self {
        case .leaf(let text, let place): [ConfigurationEntry(path: path, value: text, place: place)]
        case .unset: []
        case .object(let members): members.flatMap { $0.value.entries(beneath: path + [$0.name]) }
        }
    }
}

extension ConfigurationValue {
    /// Creates a value that comes from no file and is known to be valid.
    package init(_ json: String, from place: ConfigurationPlace, key: String) {
        let read = Array(json.utf8).withUnsafeBufferPointer { bytes in
            Result { () throws(JSONFault) in
                var reader = JSONReader(bytes)
                var cursor = SourceCursor()
                return try Self.read(&reader, &cursor, file: place.file, key: key)
            }
        }
        self = (try? read.get())?.placed(place) ?? .empty
    }

    private func placed(_ place: ConfigurationPlace) -> ConfigurationValue {
        switch self {
        case .leaf(let text, _): .leaf(text, place)
        case .unset: .unset
        case .object(let members):
            .object(members.map { Member(name: $0.name, token: $0.token, value: $0.value.placed(place)) })
        }
    }

    /// Returns an object with one member.
    package static func one(_ key: String, _ value: ConfigurationValue) -> ConfigurationValue {
        .object([Member(name: key, token: "\"\(key)\"", value: value)])
    }

    /// A placeholder that equals no key.
    private static let anyName = "*"

    /// Reads the tree of a text that has been validated before.
    ///
    /// - Parameter isPart: Whether the value belongs to a top-level key of the file, which never names a secret.
    package static func read(
        _ reader: inout JSONReader, _ cursor: inout SourceCursor, file: String, key: String = "", isPart: Bool = false
    ) throws(JSONFault) -> ConfigurationValue {
        let kind = try reader.kind()
        let start = reader.offset
        cursor.advance(to: start, in: reader.bytes)
        let place = ConfigurationPlace(file: file, line: cursor.line, column: cursor.column)
        if kind == .null {
            try reader.null()
            return ConfigurationFields.switchedOff.contains(key) ? .leaf("null", place) : .unset
        }
        let namesSecret = kind == .object && !isPart ? try namesSecret(reader) : false
        let isWhole = kind != .object || ConfigurationFields.whole.contains(key) || namesSecret
        guard !isWhole else {
            try reader.skipValue()
            return .leaf(String(decoding: reader.bytes[start..<reader.offset], as: UTF8.self), place)
        }
        var members: [Member] = []
        var isFirst = true
        try reader.beginObject()
        while let text = try reader.key(isFirst: &isFirst) {
            let name = reader.string(text)
            let token = String(decoding: reader.bytes[text.token], as: UTF8.self)
            // A server, a link or a field may have the same name as a key.
            let isName = ConfigurationFields.named.contains(key)
            let value = try read(
                &reader, &cursor, file: file, key: isName ? anyName : name, isPart: key.isEmpty)
            if !name.hasPrefix("x-") || isName {
                members.append(Member(name: name, token: token, value: value))
            }
        }
        return .object(members)
    }

    /// Returns whether the object at hand names the place of a secret.
    private static func namesSecret(_ reader: JSONReader) throws(JSONFault) -> Bool {
        var reader = reader
        var names: [String] = []
        var isFirst = true
        try reader.beginObject()
        while let key = try reader.key(isFirst: &isFirst) {
            names.append(reader.string(key))
            guard try reader.kind() == .string else { return false }
            try reader.skipValue()
        }
        return names.count == 1 && SecretKey(rawValue: names[0]) != nil
    }
}
