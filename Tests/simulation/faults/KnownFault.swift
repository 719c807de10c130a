import Glibc

/// The known fault that this process has back, by the name of its patch (`TRANSFER_FAULT`). `faults/run` adds this file
/// to a clone whose sources have all faults.
enum KnownFault {
    private static let back = getenv("TRANSFER_FAULT").map { String(cString: $0) }

    static func isBack(_ name: String) -> Bool { back == name }
}
