import Glibc

/// The needed functions of systemd's D-Bus library (sd-bus(3)). It is loaded only where there is a bus, so that
/// programs neither link it nor load it otherwise.
struct BusLibrary: Sendable {
    typealias Handler = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32
    typealias Text = UnsafePointer<CChar>
    typealias Reference = UnsafeMutablePointer<OpaquePointer?>
    typealias Number = UnsafeMutablePointer<UInt64>

    typealias Open = @convention(c) (Reference) -> Int32
    typealias Act = @convention(c) (OpaquePointer) -> Void
    typealias Release = @convention(c) (OpaquePointer) -> OpaquePointer?
    typealias Ask = @convention(c) (OpaquePointer) -> Int32
    typealias AskNumber = @convention(c) (OpaquePointer, Number) -> Int32
    typealias Process = @convention(c) (OpaquePointer, Reference?) -> Int32
    typealias Match =
        @convention(c) (OpaquePointer, Reference?, Text, Handler?, Handler?, UnsafeMutableRawPointer?) -> Int32
    typealias NewCall = @convention(c) (OpaquePointer, Reference, Text?, Text, Text?, Text) -> Int32
    typealias SetFlag = @convention(c) (OpaquePointer, Int32) -> Int32
    typealias Append = @convention(c) (OpaquePointer, CChar, UnsafeRawPointer) -> Int32
    typealias Call =
        @convention(c) (OpaquePointer, Reference?, OpaquePointer, Handler?, UnsafeMutableRawPointer?, UInt64) -> Int32
    typealias TakeText = @convention(c) (OpaquePointer, Text?) -> Int32
    typealias Peek =
        @convention(c) (OpaquePointer, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Text?>?) -> Int32
    typealias Enter = @convention(c) (OpaquePointer, CChar, Text?) -> Int32
    typealias Read = @convention(c) (OpaquePointer, CChar, UnsafeMutableRawPointer) -> Int32

    let openSystem: Open
    let close: Act
    let unref: Release
    let descriptor: Ask
    let events: Ask
    let timeout: AskNumber
    let process: Process
    let addMatch: Match
    let newCall: NewCall
    let setAutoStart: SetFlag
    let append: Append
    let call: Call
    let unrefMessage: Release
    let cookie: AskNumber
    let replyCookie: AskNumber
    let isError: TakeText
    let peek: Peek
    let enter: Enter
    let exit: Ask
    let read: Read
    let skip: TakeText

    /// The installed library; `nil` where it is missing or too old (before systemd 237).
    static let installed = try? BusLibrary()

    private struct Missing: Error {}

    private init() throws {
        guard let library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL) else { throw Missing() }
        func find<Function>(_ name: String) throws -> Function {
            guard let symbol = dlsym(library, "sd_bus_\(name)") else { throw Missing() }
            return unsafeBitCast(symbol, to: Function.self)
        }
        openSystem = try find("open_system")
        close = try find("close")
        unref = try find("unref")
        descriptor = try find("get_fd")
        events = try find("get_events")
        timeout = try find("get_timeout")
        process = try find("process")
        addMatch = try find("add_match_async")
        newCall = try find("message_new_method_call")
        setAutoStart = try find("message_set_auto_start")
        append = try find("message_append_basic")
        call = try find("call_async")
        unrefMessage = try find("message_unref")
        cookie = try find("message_get_cookie")
        replyCookie = try find("message_get_reply_cookie")
        isError = try find("message_is_method_error")
        peek = try find("message_peek_type")
        enter = try find("message_enter_container")
        exit = try find("message_exit_container")
        read = try find("message_read_basic")
        skip = try find("message_skip")
    }

    /// Returns a letter of D-Bus's type codes.
    static func code(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }
}

extension BusLibrary {
    /// The value of a property, of the types that are read here.
    enum Value: Sendable, Hashable {
        case number(UInt32)
        case text(String)
        case paths([String])
    }

    /// Reads an `a{sv}`; values of other types are left out.
    func properties(_ message: OpaquePointer) -> [String: Value] {
        var found: [String: Value] = [:]
        guard enter(message, Self.code("a"), "{sv}") > 0 else { return found }
        while enter(message, Self.code("e"), "sv") > 0 {
            guard let name = text(message, "s") else { break }
            if let value = variant(message) { found[name] = value }
            guard exit(message) >= 0 else { break }
        }
        return found
    }

    private func variant(_ message: OpaquePointer) -> Value? {
        var signature: Text?
        guard peek(message, nil, &signature) > 0, let signature else { return nil }
        // The text belongs to the message, and is invalid once the reading continues.
        let type = String(cString: signature)
        guard ["u", "s", "o", "ao"].contains(type), enter(message, Self.code("v"), type) > 0 else {
            _ = skip(message, "v")
            return nil
        }
        defer { _ = exit(message) }
        switch type {
        case "u":
            var number: UInt32 = 0
            return read(message, Self.code("u"), &number) > 0 ? .number(number) : nil
        case "ao":
            guard enter(message, Self.code("a"), "o") > 0 else { return nil }
            var paths: [String] = []
            while let path = text(message, "o") { paths.append(path) }
            _ = exit(message)
            return .paths(paths)
        default: return text(message, type == "o" ? "o" : "s").map { .text($0) }
        }
    }

    private func text(_ message: OpaquePointer, _ type: Unicode.Scalar) -> String? {
        var text: Text?
        guard read(message, Self.code(type), &text) > 0 else { return nil }
        return text.map { String(cString: $0) }
    }
}
