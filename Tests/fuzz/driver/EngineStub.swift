// The settings that upload protocols use of an exchange, in place of TransferEngine's own. No fuzz target makes an
// exchange.

package struct ExchangeSettings {
    package var files: FileServerSettings?
    package var credentials = Credentials()

    package struct Credentials {
        package var login: String?

        package static func password(user: String, password: String) -> Credentials { Credentials(login: user) }
    }
}
