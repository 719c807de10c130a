import Glibc
import TransferCore

@testable import TransferReachability

/// Messages of route netlink in the kernel's format, for kinds of links that the test's own kernel cannot make.
struct MessageBytes {
    var bytes: [UInt8] = []

    mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }

    mutating func attribute(_ type: Int, _ value: [UInt8]) {
        append(UInt16(value.count + 4))
        append(UInt16(type))
        bytes += value
        while bytes.count % 4 != 0 { bytes.append(0) }
    }

    mutating func attribute(_ type: Int, _ value: UInt32) { attribute(type, withUnsafeBytes(of: value) { Array($0) }) }

    mutating func attribute(_ type: Int, _ text: String) { attribute(type, Array(text.utf8) + [0]) }

    static func message(
        _ type: Int, flags: Int = 0, sequence: UInt32 = 0, port: UInt32 = 0, _ body: (inout MessageBytes) -> Void
    ) -> [UInt8] {
        var payload = MessageBytes()
        body(&payload)
        var message = MessageBytes()
        message.append(UInt32(payload.bytes.count + 16))
        message.append(UInt16(type))
        message.append(UInt16(flags))
        message.append(sequence)
        message.append(port)
        return message.bytes + payload.bytes
    }

    struct LinkForm {
        var hardware: UInt16 = 1
        var flags: UInt32 = 0x11043
        var kind = ""
        var lower: UInt32?
        var master: UInt32?
        var family: UInt8 = 0
    }

    static func link(_ index: Int, _ name: String, type: Int = 16, _ change: (inout LinkForm) -> Void = { _ in })
        -> [UInt8]
    {
        var form = LinkForm()
        change(&form)
        return message(type) { body in
            body.bytes += [form.family, 0]
            body.append(form.hardware)
            body.append(Int32(index))
            body.append(form.flags)
            body.append(UInt32.max)
            body.attribute(3, name)
            body.attribute(4, 1500 as UInt32)
            body.attribute(16, [6])
            if let lower = form.lower { body.attribute(5, lower) }
            if let master = form.master { body.attribute(10, master) }
            if !form.kind.isEmpty {
                var nested = MessageBytes()
                nested.attribute(1, form.kind)
                body.attribute(18, nested.bytes)
            }
        }
    }

    static func address(_ link: Int, _ text: String, prefix: UInt8, flags: UInt32 = 0x80, type: Int = 20) -> [UInt8] {
        let address = IPAddress(text)?.bytes ?? []
        return message(type) { body in
            body.bytes += [UInt8(address.count == 4 ? AF_INET : AF_INET6), prefix, UInt8(flags & 0xFF), 0]
            body.append(UInt32(link))
            body.attribute(1, address)
            body.attribute(2, address)
            body.attribute(8, flags)
        }
    }

    static func route(
        via gateway: String, _ link: Int, metric: UInt32 = 0, table: UInt32 = 254, prefix: UInt8 = 0, kind: UInt8 = 1,
        type: Int = 24, flags: Int = 0, sequence: UInt32 = 0, port: UInt32 = 0
    ) -> [UInt8] {
        let gateway = IPAddress(gateway)?.bytes ?? []
        return message(type, flags: flags, sequence: sequence, port: port) { body in
            body.bytes += [UInt8(gateway.count == 4 ? AF_INET : AF_INET6), prefix, 0, 0]
            body.bytes += [table < 256 ? UInt8(table) : 252, 3, 0, kind]
            body.append(UInt32(0))
            body.attribute(15, table)
            if prefix > 0 { body.attribute(1, Array(gateway)) }
            body.attribute(5, gateway)
            body.attribute(4, UInt32(link))
            if metric > 0 { body.attribute(6, metric) }
        }
    }
}

extension NetlinkFrame {
    static func parse(_ bytes: [UInt8]) -> [NetlinkFrame] {
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { parse($0) }
    }
}
