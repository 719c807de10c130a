import Testing
import TransferTesting

@Suite struct ScriptedServerTests {
    @Test func listensOnAPortOfItsOwn() throws {
        let one = try ScriptedServer()
        let other = try ScriptedServer()
        #expect(one.url() != other.url())
        one.stop()
        other.stop()
    }
}
