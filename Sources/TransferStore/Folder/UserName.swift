import Glibc

/// The name of a user of this machine.
package enum UserName {
    /// Returns the name; `nil` for a number without one.
    package static func name(_ number: UInt32) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(number, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
        else {
            return nil
        }
        return String(cString: name)
    }

    /// Returns "the user ann", or "the user" with the number where it has no name.
    package static func words(_ number: UInt32) -> String { "the user \(name(number) ?? "\(number)")" }
}
