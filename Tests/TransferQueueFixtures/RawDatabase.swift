import Glibc

/// The queue's database as another program sees it: for simulating the state after a crash, and for reading values that
/// no function of the store returns.
package struct RawDatabase {
    private typealias Callback =
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32
    private typealias Open = @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> Int32
    private typealias Close = @convention(c) (OpaquePointer?) -> Int32
    private typealias Timeout = @convention(c) (OpaquePointer?, Int32) -> Int32
    private typealias Execute =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, Callback?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32

    package struct Failure: Error {
        let code: Int32
        let sql: String
    }

    private final class Rows { var rows: [[String?]] = [] }

    package let path: String

    package init(path: String) { self.path = path }

    /// - Returns: The rows, as text.
    @discardableResult
    package func run(_ sql: String) throws -> [[String?]] {
        var handle: OpaquePointer?
        guard let open: Open = Self.symbol("sqlite3_open"), open(path, &handle) == 0,
            let execute: Execute = Self.symbol("sqlite3_exec"), let close: Close = Self.symbol("sqlite3_close"),
            let timeout: Timeout = Self.symbol("sqlite3_busy_timeout")
        else { throw Failure(code: -1, sql: "open \(path)") }
        defer { _ = close(handle) }
        _ = timeout(handle, 10_000)
        let rows = Rows()
        let callback: Callback = { context, count, values, _ in
            guard let context, let values else { return 0 }
            let row = (0..<Int(count)).map { index in values[index].map { String(cString: $0) } }
            Unmanaged<Rows>.fromOpaque(context).takeUnretainedValue().rows.append(row)
            return 0
        }
        let code = execute(handle, sql, callback, Unmanaged.passUnretained(rows).toOpaque(), nil)
        guard code == 0 else { throw Failure(code: code, sql: sql) }
        return rows.rows
    }

    package func value(_ sql: String) throws -> String? { try run(sql).first?.first ?? nil }

    /// Finds a function of SQLite, which is in this process already, through GRDB.
    private static func symbol<Function>(_ name: String) -> Function? {
        guard let library = dlopen("libsqlite3.so.0", RTLD_NOW), let address = dlsym(library, name) else { return nil }
        return unsafeBitCast(address, to: Function.self)
    }
}
