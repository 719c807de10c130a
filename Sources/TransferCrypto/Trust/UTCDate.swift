// Several modules define `tm`; a release build takes it from the first one imported.
import CTransferOpenSSL
import Glibc

enum UTCDate {
    /// Returns a date such as `2026-11-21 08:00:00 UTC`.
    static func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "an unreadable date" }
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S UTC", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func now() -> Int64 { Int64(time(nil)) }
}
