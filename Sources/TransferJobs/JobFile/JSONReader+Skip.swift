extension JSONReader {
    /// Skips a value of any kind, and validates it as strictly as a value that is used.
    ///
    /// - Parameter checkingKeys: Whether a repeated key is a fault; `false` saves time where the same bytes are read
    ///   and checked again.
    package mutating func skipValue(checkingKeys: Bool = true) throws(JSONFault) {
        switch try kind() {
        case .string: _ = try string()
        case .number: _ = try number()
        case .boolean: _ = try boolean()
        case .null: try null()
        case .array:
            try beginArray()
            var isFirst = true
            while try element(isFirst: &isFirst) { try skipValue(checkingKeys: checkingKeys) }
        case .object:
            try beginObject()
            var isFirst = true
            var seen: Set<String> = []
            while let key = try key(isFirst: &isFirst) {
                if checkingKeys, !seen.insert(string(key)).inserted { throw Self.duplicate(string(key), key) }
                try skipValue(checkingKeys: checkingKeys)
            }
        }
    }

    package static func duplicate(_ name: String, _ key: JSONText) -> JSONFault {
        JSONFault("key \(Wording.quoted(name)) occurs twice in this object", key.token)
    }
}
