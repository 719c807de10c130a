public import Glibc

/// By what a file is recognised as unchanged.
public struct FileFacts: Sendable, Hashable {
    public var size: Int64
    /// Nanoseconds since 1970; of times that are further from it than 292 years the furthest that can be told.
    public var modified: Int64

    public init(size: Int64, modified: Int64) {
        self.size = size
        self.modified = modified
    }

    public init(_ status: stat) {
        size = Int64(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
    }

    /// A whole second.
    static func nanoseconds(seconds: Int64) -> Int64 { nanoseconds(timespec(tv_sec: Int(seconds), tv_nsec: 0)) }

    static func nanoseconds(_ time: timespec) -> Int64 {
        let (scaled, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflew) = scaled.addingReportingOverflow(Int64(time.tv_nsec))
        return overflow || overflew ? (time.tv_sec < 0 ? .min : .max) : sum
    }

    /// `st_ctim`, in nanoseconds since 1970.
    static func changed(_ status: stat) -> Int64 { nanoseconds(status.st_ctim) }
}
