internal import Glibc

/// Returns the system's own text for an errno.
func systemMessage(_ code: Int32) -> String {
    String(cString: strerror(code)) + " (\(code))"
}
