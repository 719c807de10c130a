import TransferCore

/// A writer of one JSON object (RFC 8259) straight into a buffer, because there may be thousands a second.
///
/// Keys are constants in plain ASCII; values are escaped. Swift's strings are valid UTF-8 by construction.
package struct JSONObject: ~Copyable {
    private var writer: JSONWriter
    private var isFirst = true

    /// Begins an object.
    ///
    /// - Parameter bytes: The buffer that the object is appended to.
    package init(appendingTo bytes: consuming [UInt8]) {
        writer = JSONWriter(bytes: bytes, escapes: .terminal)
        writer.raw("{")
    }

    package consuming func end() -> [UInt8] {
        writer.raw("}")
        return writer.end()
    }

    package static func bytes(_ build: (inout JSONObject) -> Void) -> [UInt8] {
        var object = JSONObject(appendingTo: [])
        build(&object)
        return object.end()
    }

    package static func text(_ build: (inout JSONObject) -> Void) -> String {
        String(decoding: bytes(build), as: UTF8.self)
    }

    package mutating func field(_ key: StaticString, _ value: String) {
        begin(key)
        writer.string(value)
    }

    package mutating func field(_ key: StaticString, _ value: Int64) {
        begin(key)
        writer.integer(value)
    }

    package mutating func field(_ key: StaticString, _ value: Int) { field(key, Int64(value)) }

    /// Writes a duration in seconds, with a precision of milliseconds.
    package mutating func field(_ key: StaticString, _ value: Duration) { field(key, seconds: value.inMilliseconds) }

    /// Writes a duration.
    ///
    /// - Parameter milliseconds: The duration, which is written in seconds.
    package mutating func field(_ key: StaticString, seconds milliseconds: Int64) {
        begin(key)
        writer.integer(milliseconds / 1000)
        let rest = milliseconds % 1000
        if rest > 0 { writer.raw(".\(rest / 100)\(rest / 10 % 10)\(rest % 10)") }
    }

    package mutating func field(_ key: StaticString, time milliseconds: Int64) {
        begin(key)
        writer.time(milliseconds)
    }

    /// Writes a field.
    ///
    /// - Parameter json: The value as JSON text, which is written unchanged.
    package mutating func field(_ key: StaticString, json: String) {
        begin(key)
        writer.raw(json)
    }

    package mutating func optional(_ key: StaticString, _ value: String?) { if let value { field(key, value) } }
    package mutating func optional(_ key: StaticString, _ value: Int?) { if let value { field(key, Int64(value)) } }
    package mutating func optional(_ key: StaticString, _ value: Int64?) { if let value { field(key, value) } }
    package mutating func optional(_ key: StaticString, _ value: Duration?) { if let value { field(key, value) } }

    package mutating func field(_ key: StaticString, _ value: Bool) {
        begin(key)
        writer.boolean(value)
    }

    /// Writes an object as a field.
    ///
    /// - Parameter fill: A function that writes its fields.
    package mutating func object(_ key: StaticString, _ fill: (inout JSONObject) -> Void) {
        begin(key)
        writer.raw(JSONObject.text(fill))
    }

    package mutating func strings(_ key: StaticString, _ values: [String]) {
        list(key, values) { $0.string($1) }
    }

    /// Writes a list of objects as a field.
    ///
    /// - Parameter fill: A function that writes the fields of one object.
    package mutating func objects<Value>(
        _ key: StaticString, _ values: [Value], _ fill: (inout JSONObject, Value) -> Void
    ) {
        list(key, values) { writer, value in writer.raw(JSONObject.text { fill(&$0, value) }) }
    }

    private mutating func list<Value>(
        _ key: StaticString, _ values: [Value], _ write: (inout JSONWriter, Value) -> Void
    ) {
        begin(key)
        writer.array(values, write)
    }

    private mutating func begin(_ key: StaticString) {
        if !isFirst { writer.raw(",") }
        isFirst = false
        writer.constantKey(key)
    }
}
