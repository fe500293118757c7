<?php
/**
 * Plugin Name: Evidence Chat
 * Description: The shortcode [evidence_chat]: a chat that answers with quotes from your documents. Settings > Evidence Chat.
 * Version: 0.1.0
 * Requires at least: 6.5
 * Requires PHP: 7.4
 * License: MIT OR Apache-2.0
 * Text Domain: evidence-chat
 */

defined( 'ABSPATH' ) || exit;

/** The settings, with their labels. An address is the Worker's; the others are attributes of the element. */
const EVIDENCE_CHAT_SETTINGS = array(
	'script'    => 'Address of evidence-chat.js, such as https://chat.example.com/evidence-chat.js',
	'endpoint'  => 'Address of the API; empty: /api/chat next to the script',
	'heading'   => 'Title of the chat',
	'greeting'  => 'Text before the first question',
	'assistant' => 'Name of the assistant; empty: the default one',
);

/**
 * Attributes that the shortcode accepts, each with its default from the settings if there is one. The endpoint is a setting only: its
 * server gets the access tokens of visitors, and contributors may write shortcodes.
 */
const EVIDENCE_CHAT_ATTRIBUTES = array( 'heading', 'greeting', 'assistant', 'mode', 'theme', 'lang', 'shortcut' );

/** An address that a page may load: absolute https, or http on this computer. Anything else becomes "". */
function evidence_chat_address( $value ) {
	$address = esc_url_raw( trim( (string) $value ), array( 'https', 'http' ) );
	$parts   = wp_parse_url( $address );
	$scheme  = isset( $parts['scheme'] ) ? $parts['scheme'] : '';
	$is_here = isset( $parts['host'] ) && in_array( $parts['host'], array( 'localhost', '127.0.0.1' ), true );
	return 'https' === $scheme || ( 'http' === $scheme && $is_here ) ? $address : '';
}

/** Cleans the settings before they are stored. Unknown ones are dropped. */
function evidence_chat_sanitize( $given ) {
	$clean = array();
	foreach ( array_keys( EVIDENCE_CHAT_SETTINGS ) as $name ) {
		$value          = is_array( $given ) && isset( $given[ $name ] ) && is_string( $given[ $name ] ) ? $given[ $name ] : '';
		$is_address     = 'script' === $name || 'endpoint' === $name;
		$clean[ $name ] = $is_address ? evidence_chat_address( $value ) : sanitize_text_field( $value );
	}
	return $clean;
}

/** Who may name the script, which runs on the site: on a network of sites, only its administrators. */
function evidence_chat_capability() {
	return is_multisite() ? 'manage_network_options' : 'manage_options';
}
add_filter( 'option_page_capability_evidence_chat', 'evidence_chat_capability' );

/** The element with its attributes, all escaped; "" without a script, so that visitors never see a broken chat. */
function evidence_chat_shortcode( $given ) {
	$settings = evidence_chat_sanitize( get_option( 'evidence_chat', array() ) );
	if ( '' === $settings['script'] ) {
		return '';
	}
	$defaults = array_fill_keys( EVIDENCE_CHAT_ATTRIBUTES, '' );
	$values   = shortcode_atts( array_merge( $defaults, array_intersect_key( $settings, $defaults ) ), $given, 'evidence_chat' );
	$html     = '';
	foreach ( array( 'endpoint' => $settings['endpoint'] ) + $values as $name => $value ) {
		$value = (string) $value;
		if ( '' !== $value ) {
			$html .= sprintf( ' %s="%s"', $name, esc_attr( $value ) );
		}
	}
	// Printed once at the end of the page, however many chats it has.
	wp_enqueue_script_module( 'evidence-chat', $settings['script'], array(), null );
	return "<evidence-chat{$html}></evidence-chat>";
}

add_shortcode( 'evidence_chat', 'evidence_chat_shortcode' );

add_action(
	'admin_init',
	function () {
		register_setting(
			'evidence_chat',
			'evidence_chat',
			array(
				'type'              => 'array',
				'default'           => array(),
				'sanitize_callback' => 'evidence_chat_sanitize',
			)
		);
		add_settings_section( 'evidence_chat', '', '__return_empty_string', 'evidence-chat' );
		$settings = evidence_chat_sanitize( get_option( 'evidence_chat', array() ) );
		foreach ( EVIDENCE_CHAT_SETTINGS as $name => $label ) {
			add_settings_field(
				$name,
				esc_html( $label ),
				function () use ( $name, $settings ) {
					printf(
						'<input class="regular-text" id="%1$s" name="evidence_chat[%1$s]" value="%2$s">',
						esc_attr( $name ),
						esc_attr( $settings[ $name ] )
					);
				},
				'evidence-chat',
				'evidence_chat',
				array( 'label_for' => $name )
			);
		}
	}
);

add_action(
	'admin_menu',
	function () {
		add_options_page(
			'Evidence Chat',
			'Evidence Chat',
			evidence_chat_capability(),
			'evidence-chat',
			function () {
				echo '<div class="wrap"><h1>Evidence Chat</h1><form action="options.php" method="post">';
				settings_fields( 'evidence_chat' );
				do_settings_sections( 'evidence-chat' );
				submit_button();
				echo '</form></div>';
			}
		);
	}
);
