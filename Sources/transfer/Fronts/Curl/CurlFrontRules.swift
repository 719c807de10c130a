import TransferQueue

/// The options of curl's command line that mean more, or less, than in a list (``CurlOptions`` has the others).
enum CurlFrontRules {
    /// The options that change how curl talks, or state a default: no file, byte or request differs without
    /// them.
    static let talk: Set<String> = [
        "show-error", "progress-bar", "progress-meter", "buffer", "styled-output", "trace-time", "trace-ids",
        "fail", "create-dirs", "retry-connrefused", "remove-on-error", "parallel-immediate", "basic",
        "keepalive", "alpn", "npn", "disable", "tlsv1", "tlsv1.0", "tlsv1.1", "tlsv1.2", "ftp-pasv", "http2",
        "suppress-connect-headers", "hsts", "epsv", "eprt",
    ]

    private static let answers = "what a server says besides the file is not shown; -v shows the job's way"

    /// The options that a command line cannot have, with the reason, and whether the rest of the line means the same
    /// to the user without them.
    static let refused: [String: (reason: String, canBeLeftOut: Bool)] = [
        "list-only": ("a job moves a file, and names in a folder are none", false),
        "quote": ("a job moves a file, and commands to a server are none", false),
        "mail-from": ("mail is not sent", false), "mail-rcpt": ("mail is not sent", false),
        "telnet-option": ("telnet is not spoken", false),
        "trace": (answers, true), "trace-ascii": (answers, true), "trace-config": (answers, true),
        "libcurl": ("no source of a program is written", true),
        "fail-early": ("the transfers of a line do not depend on each other; write a line for each", false),
        "max-filesize": ("nothing bounds the size of a file", true),
        "junk-session-cookies": ("every cookie of the file is sent that has not expired", true),
        "location-trusted": ("a login goes to the URL's own server alone; -L follows redirects", false),
        "http3-only": ("the server and the machine agree on the version of HTTP", true),
        "help": ("`transfer curl --help` stands alone", false),
        "version": ("`transfer --version` shows libcurl's version, too", false),
        "manual": ("`man transfer` is the manual", false),
        "pass": ("a passphrase is named: transfer get --key-passphrase '$VARIABLE'", false),
    ]

    /// The reason for an option without any equivalent.
    static let unknownEffect = "it has no equivalent, and without it the request could be another"

    /// Returns the command for a file of curl's options.
    static func list(_ file: String) -> [String] { ["transfer", "get", "-i", file, "--format", "curl"] }
}
