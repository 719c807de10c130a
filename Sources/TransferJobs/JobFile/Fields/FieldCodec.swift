package import TransferCore

/// The functions that read, write and describe (in the schema) one kind of value of the job file.
package struct FieldCodec<Value: Sendable>: Sendable {
    /// The reader.
    ///
    /// - Returns: `nil` where the value is invalid, which is noted, and where the value means none.
    package let read: @Sendable (inout JobDecoder) throws(JSONFault) -> Value?
    package let write: @Sendable (inout JSONWriter, Value) -> Void
    /// The members of the value's JSON Schema, without the braces.
    package let schema: String

    package init(
        schema: String, read: @escaping @Sendable (inout JobDecoder) throws(JSONFault) -> Value?,
        write: @escaping @Sendable (inout JSONWriter, Value) -> Void
    ) {
        self.schema = schema
        self.read = read
        self.write = write
    }

    /// Returns a value as JSON.
    package func json(_ value: Value) -> String {
        var writer = JSONWriter()
        write(&writer, value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension FieldCodec where Value: JSONWritable {
    package init(schema: String, read: @escaping @Sendable (inout JobDecoder) throws(JSONFault) -> Value?) {
        self.init(schema: schema, read: read) { $1.write(to: &$0) }
    }
}

extension FieldCodec where Value: RawRepresentable<String> & CaseIterable {
    /// The raw values of an enumeration.
    package static var word: Self {
        let words = Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return Self(schema: "\"enum\": [\(words)]") { decoder throws(JSONFault) in
            try decoder.word(Value.self)
        } write: {
            $0.string($1.rawValue)
        }
    }
}

extension FieldCodec<Bool> {
    package static var boolean: Self {
        Self(schema: #""type": "boolean""#) { decoder throws(JSONFault) in try decoder.boolean() }
    }
}

extension FieldCodec<Int> {
    package static func integer(_ range: ClosedRange<Int>) -> Self {
        let schema = "\"type\": \"integer\", \"minimum\": \(range.lowerBound), \"maximum\": \(range.upperBound)"
        return Self(schema: schema) { decoder throws(JSONFault) in try decoder.integer(range) }
    }
}

extension FieldCodec<SegmentCount> {
    /// The codec for a number of connections, or `"auto"`.
    package static var segments: Self {
        let range = FieldRanges.segments
        let number = "{ \"type\": \"integer\", \"minimum\": \(range.lowerBound), \"maximum\": \(range.upperBound) }"
        return Self(schema: "\"anyOf\": [\(number), { \"const\": \"auto\" }]") { decoder throws(JSONFault) in
            switch try decoder.reader.kind() {
            case .number: return try decoder.integer(range).map { .exactly($0) }
            case .string:
                let text = try decoder.reader.string()
                if decoder.reader.string(text) == "auto" { return .automatic }
                decoder.note("expected a number of connections or \"auto\"", text.token)
                return nil
            case let kind:
                try decoder.mismatch("a number of connections or \"auto\"", kind)
                return nil
            }
        } write: {
            switch $1 {
            case .automatic: $0.string("auto")
            case .exactly(let count): $0.integer(count)
            }
        }
    }
}

extension FieldCodec<CongestionControl> {
    /// The codec for `"auto"`, `"system"`, or the name of a congestion control algorithm.
    package static var congestion: Self {
        Self(schema: #""type": "string", "pattern": "^[a-z0-9_-]{1,15}$""#) { decoder throws(JSONFault) in
            let expected = "\"auto\", \"system\", or the name of a congestion control, such as \"bbr\""
            guard try decoder.reader.kind() == .string else {
                try decoder.mismatch(expected, try decoder.reader.kind())
                return nil
            }
            let text = try decoder.reader.string()
            if let control = CongestionControl(decoder.reader.string(text)) { return control }
            decoder.note("expected \(expected)", text.token)
            return nil
        } write: {
            $0.string($1.text)
        }
    }
}

extension FieldCodec<Set<Int>> {
    /// The codec for HTTP status codes.
    package static var statuses: Self {
        let range = FieldRanges.statusCodes
        let schema =
            #""type": "array", "items": { "type": "integer", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound) }"#
        return Self(schema: schema) { decoder throws(JSONFault) in
            var codes: Set<Int> = []
            let isArray = try decoder.array("an array of statuses") { (decoder) throws(JSONFault) in
                if let code = try decoder.integer(range) { codes.insert(code) }
            }
            return isArray ? codes : nil
        } write: {
            $1.sorted().write(to: &$0)
        }
    }

    /// The codec for the statuses that confirm an upload; at least one.
    package static var receipts: Self {
        let items = #"{ "anyOf": [{ "type": "integer", "minimum": 200, "maximum": 299 }, { "enum": [302, 303] }] }"#
        return Self(schema: #""type": "array", "minItems": 1, "items": \#(items)"#) { decoder throws(JSONFault) in
            try UploadDecoder.success(&decoder)
        } write: {
            $1.sorted().write(to: &$0)
        }
    }
}

extension FieldCodec<Set<String>> {
    package static var methods: Self {
        Self(schema: ##""type": "array", "items": { "$ref": "#/$defs/token" }"##) { decoder throws(JSONFault) in
            var methods: Set<String> = []
            let isArray = try decoder.array("an array of methods") { (decoder) throws(JSONFault) in
                if let method = try decoder.string(HeaderRule.refusal(ofMethod:)) { methods.insert(method) }
            }
            return isArray ? methods : nil
        } write: {
            $1.sorted().write(to: &$0)
        }
    }
}

extension FieldCodec<Duration> {
    package static var duration: Self {
        Self(schema: ##""$ref": "#/$defs/duration""##) { decoder throws(JSONFault) in try decoder.duration() }
    }

    /// The codec for a duration that may be zero.
    package static var delay: Self {
        Self(schema: ##""$ref": "#/$defs/delay""##) { decoder throws(JSONFault) in
            try decoder.duration(allowingZero: true)
        }
    }
}

extension FieldCodec<Int64> {
    /// The codec for a rate in bytes a second.
    package static var byteRate: Self {
        Self(schema: ##""$ref": "#/$defs/byteRate""##) { decoder throws(JSONFault) in
            try decoder.byteCount()
        } write: {
            $0.integer(Int($1))
        }
    }

    /// The codec for a rate in bytes a second, where 0 means no limit.
    package static var rateLimit: Self {
        Self(schema: ##""$ref": "#/$defs/byteRate""##) { decoder throws(JSONFault) in
            try decoder.rateLimit()
        } write: {
            $0.integer(Int($1))
        }
    }

    /// The codec for the number of bytes of one request; at least 1.
    package static var chunkSize: Self {
        Self(schema: ##""$ref": "#/$defs/size""##) { decoder throws(JSONFault) in
            try UploadDecoder.chunkSize(&decoder)
        } write: {
            $0.integer(Int($1))
        }
    }
}

extension FieldCodec<String> {
    /// Returns the codec for a text to which `refusal` has no objection.
    package static func text(
        schema: String = #""type": "string""#, _ refusal: @escaping @Sendable (String) -> String?
    ) -> Self {
        Self(schema: schema) { decoder throws(JSONFault) in try decoder.string(refusal) }
    }

    /// The codec for any text.
    package static var anyText: Self {
        Self(schema: #""type": "string""#) { decoder throws(JSONFault) in try decoder.string() }
    }

    /// Returns the codec for a text that is not empty.
    ///
    /// - Parameter thing: The name of the text in the message.
    package static func name(_ thing: String) -> Self {
        text(schema: #""type": "string", "minLength": 1"#) { $0.isEmpty ? "\(thing) is empty" : nil }
    }

    /// The codec for the path of a local file.
    package static var path: Self {
        Self(schema: ##""$ref": "#/$defs/path""##) { decoder throws(JSONFault) in try decoder.path() }
    }

    /// The codec for a request's method.
    package static var method: Self { text(schema: ##""$ref": "#/$defs/token""##, HeaderRule.refusal(ofMethod:)) }
}

extension FieldCodec<Checksum> {
    package static var checksum: FieldCodec<Checksum> {
        Self(schema: ##""$ref": "#/$defs/checksum""##) { decoder throws(JSONFault) in
            try ChecksumDecoder.read(&decoder)
        } write: {
            $0.string($1.description)
        }
    }
}

extension FieldCodec<SecretText> {
    /// Returns the codec for a value that may be a literal or the name of a secret.
    package static func named(
        schema: String = #""type": "string""#, _ refusal: @escaping @Sendable (String) -> String? = { _ in nil }
    ) -> Self {
        Self(schema: ##""anyOf": [{ \##(schema) }, { "$ref": "#/$defs/secretName" }]"##) { decoder throws(JSONFault) in
            try SecretDecoder.read(&decoder, isSecret: false, refusal)
        }
    }

    /// Returns the codec for a value that must not be a literal.
    ///
    /// - Parameter thing: The name of the value in the message.
    package static func secret(_ thing: String) -> Self {
        Self(schema: ##""$ref": "#/$defs/secretName""##) { decoder throws(JSONFault) in
            let takesSecrets = decoder.takesSecrets
            return try SecretDecoder.read(&decoder, isSecret: true) { _ in
                takesSecrets ? nil : "\(thing) is named, never written; \(SecretDecoder.advice)"
            }
        }
    }
}
