import TransferCore
import TransferQueue

// The JSON of responses.
extension JSONWriter {
    /// Writes a member of an object, or nothing where the value is `nil`.
    mutating func member(_ name: String, _ value: (some JSONWritable)?) {
        guard let value else { return }
        key(name)
        value.write(to: &self)
    }

    mutating func member(_ name: String, _ value: Int64?) { member(name, value.map(Int.init)) }

    /// Writes a time in milliseconds since 1970, in the format of RFC 3339.
    mutating func member(_ name: String, time: Int64?) { member(name, time.map(TimeStamp.text)) }

    mutating func member(_ name: String, object: (inout JSONWriter) -> Void) {
        key(name)
        self.object(object)
    }

    mutating func member<Element>(
        _ name: String, objects: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        array(objects) { writer, element in writer.object { write(&$0, element) } }
    }

    /// Returns an object as bytes.
    static func bytes(_ build: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(build)
        return writer.bytes
    }
}
