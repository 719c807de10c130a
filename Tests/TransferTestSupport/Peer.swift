internal import Foundation
internal import Glibc

/// Functions that servers of the tests share.
enum Peer {
    /// Returns whether suites against a server run: if it is installed, or required (`TRANSFER_PEERS=required`). If
    /// required, they fail without it.
    static func isWanted(_ name: String, package: String, isInstalled: Bool) -> Bool {
        if isInstalled { return true }
        if ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required" { return true }
        let line = "SKIPPED: the suites against \(name), as it is not installed (Debian's package \(package))\n"
        FileHandle.standardError.write(Data(line.utf8))
        return false
    }

    static func isReady(_ process: ChildProcess, _ isThere: () -> Bool) async -> Bool {
        for _ in 0..<2_000 {
            if isThere() { return true }
            guard process.isRunning else { return false }
            // Another process writes the file, so there is no event to await. 5 ms are short compared with a server's
            // start.
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    /// Returns the children of a process, and their descendants (proc(5)).
    static func descendants(of process: Int32) -> [Int32] {
        let path = "/proc/\(process)/task/\(process)/children"
        let children = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ")
        return children.compactMap { Int32($0) }.flatMap { [$0] + descendants(of: $0) }
    }
}
